import { Expressions } from './expressions.mjs';
import { atRow, partAt } from './lines.mjs';

/** The statement that stands in the row of a part. */
export const PART_STATEMENT = '__part__()';
const isPart = ({ type, expression }) => type === 'CallStatement' && expression.base?.name === '__part__';

/**
 * Emits statements of Lua as JavaScript. Of the part in a row `parts` says which names it gives to this file, `givenAt(row)`, and whether it
 * ends what it stands in, `mayReturn(row)`.
 */
export class Statements {
  #names;
  #expressions;
  #refuse;
  #parts;

  constructor(names, facts, patterns, refuse, parts) {
    this.#names = names;
    this.#refuse = refuse;
    this.#parts = parts;
    this.#expressions = new Expressions(names, facts, patterns, refuse, (body) => this.#all(body));
  }

  /** A whole file. */
  file(statements) {
    this.#names.open();
    const code = this.#all(statements);
    this.#names.close();
    return this.#expressions.declaredTemps + code;
  }

  #all(statements) {
    return statements.map((each) => atRow(each.loc.start.line) + this.#statement(each)).join(' ');
  }

  #block(statements, before = () => '') {
    this.#names.open();
    const begin = before();
    const code = this.#all(statements);
    this.#names.close();
    return `{ ${begin}${code} }`;
  }

  #statement(node) {
    const { one, list, condition } = bound(this.#expressions);
    switch (node.type) {
      case 'LocalStatement':
        return this.#local(node);
      case 'AssignmentStatement':
        return this.#assign(node);
      case 'CallStatement':
        if (isPart(node)) return this.#part(node.loc.start.line);
        return `${this.#expressions.raw(node.expression)};`;
      case 'FunctionDeclaration':
        return this.#function(node);
      case 'ReturnStatement':
        return node.arguments.length === 0 ? 'return;' : `return (${this.#expressions.returned(node.arguments)});`;
      case 'BreakStatement':
        return 'break;';
      case 'DoStatement':
        return this.#block(node.body);
      case 'WhileStatement':
        return `while (${condition(node.condition)}) ${this.#block(node.body)}`;
      case 'RepeatStatement':
        return this.#repeat(node);
      case 'IfStatement':
        return node.clauses
          .map((clause) => {
            const test = clause.condition ? `if (${atRow(clause.loc.start.line)}${condition(clause.condition)}) ` : '';
            return test + this.#block(clause.body);
          })
          .join(' else ');
      case 'ForNumericStatement':
        return this.#count(node, one);
      case 'ForGenericStatement':
        return this.#each(node, one, list);
      default:
        return this.#refuse(node, `the kit cannot run ${node.type}: write it in another way`);
    }
  }

  /**
   * The part stands in a function of its own, behind the names that it gives: engines make slow code of what is as long as a script. One that
   * may end the script stands in a block.
   */
  #part(row) {
    const given = this.#parts.givenAt(row).map((name) => this.#names.declareShared(name));
    const begin = given.length > 0 ? `let ${given.join(', ')}; ` : '';
    return this.#parts.mayReturn(row) ? `${begin}{${partAt(row)}}` : `${begin}(() => {${partAt(row)}})();`;
  }

  #local({ variables, init }) {
    const values = this.#values(variables, init);
    const names = variables.map((each) => this.#names.declare(each));
    if (values.length === 1 && names.length > 1) {
      const all = this.#expressions.newTemp();
      return `${all} = ${values[0]}; let ${names.map((name, i) => `${name} = ${all}[${i}]`).join(', ')};`;
    }
    return `let ${names.map((name, i) => (values[i] === undefined ? name : `${name} = ${values[i]}`)).join(', ')};`;
  }

  /** A value for each of these variables, or one array for all of them. */
  #values(variables, init) {
    if (init.length === 0) return [];
    if (init.length === variables.length) return init.map((each) => this.#expressions.one(each));
    if (variables.length === 1) return [`${this.#expressions.array(init)}[0]`];
    return [this.#expressions.array(init)];
  }

  /** Lua looks at tables and keys first, then at values, and then writes from the last to the first. */
  #assign({ variables, init }) {
    const { one } = bound(this.#expressions);
    if (variables.length === 1 && init.length === 1)
      return `${this.#expressions.assignment(variables[0], one(init[0]))};`;
    const places = variables.flatMap((target, i) => {
      if (target.type === 'Identifier') return [];
      const table = `const $table${i} = ${one(target.base)};`;
      return target.type === 'IndexExpression' ? [table, `const $key${i} = ${one(target.index)};`] : [table];
    });
    const values = this.#values(variables, init);
    const taken =
      values.length === variables.length
        ? values.map((value, i) => `const $value${i} = ${value};`)
        : [`const [${variables.map((_, i) => `$value${i}`).join(', ')}] = ${values[0]};`];
    const writes = variables
      .map((target, i) => `${this.#expressions.assignment(target, `$value${i}`, `$table${i}`, `$key${i}`)};`)
      .reverse();
    return `{ ${[...places, ...taken, ...writes].join(' ')} }`;
  }

  #function(node) {
    const { identifier, isLocal } = node;
    if (!isLocal) return `${this.#expressions.assignment(identifier, this.#expressions.func(node))};`;
    const name = this.#names.declare(identifier);
    return `let ${name} = ${this.#expressions.func(node)};`;
  }

  /** What its body declares is known to the condition. */
  #repeat({ body, condition }) {
    this.#names.open();
    const code = this.#all(body);
    const end = `if (${this.#expressions.condition(condition)}) break;`;
    this.#names.close();
    return `for (;;) { ${code} ${end} }`;
  }

  #count({ variable, start, end, step, body }, one) {
    const by = step ? stepOf(step) : 1;
    const goesOn = by === undefined ? '$step > 0 ? $i <= $end : $i >= $end' : `$i ${by > 0 ? '<=' : '>='} $end`;
    const steps = by === undefined ? `, $step = $bound(${one(step)})` : '';
    const bound = (node) => (this.#expressions.isNumber(node) ? one(node) : `$bound(${one(node)})`);
    const bounds = `let $i = ${bound(start)}, $end = ${bound(end)}${steps}`;
    const block = this.#block(body, () => `let ${this.#names.declare(variable, 'number')} = $i; `);
    return `for (${bounds}; ${goesOn}; $i += ${by ?? '$step'}) ${block}`;
  }

  #each({ variables, iterators, body }, one, list) {
    const [call] = iterators;
    const iterator = iterators.length === 1 && call.type === 'CallExpression' ? iteratorOf(call) : undefined;
    const declare = (...kinds) => variables.map((each, i) => this.#names.declare(each, kinds[i] ?? 'any'));
    if (iterator === 'ipairs') {
      const items = `$listOf(${one(call.arguments[0])})`;
      const block = this.#block(body, () => {
        const [index, value] = declare('number');
        return `let ${index} = $i + 1${value ? `, ${value} = $items[$i]` : ''}; `;
      });
      return `for (let $items = ${items}, $i = 0; $items[$i] !== undefined; $i++) ${block}`;
    }
    if (iterator === undefined)
      this.#refuse(iterators[0], 'the kit goes through ipairs, pairs and string.gmatch alone');
    if (iterator === 'gmatch') {
      const block = this.#block(
        body,
        () =>
          `let ${declare('string')
            .map((name, i) => `${name} = $matches[$i][${i}]`)
            .join(', ')}; `,
      );
      return `for (let $matches = ${this.#expressions.raw(call)}, $i = 0; $i < $matches.length; $i++) ${block}`;
    }
    // A value that is gone, or another one, by the time that its key is come to, is read as it is then.
    const block = this.#block(body, () => {
      const [key, value] = declare();
      const read = `$get($table, $names[$i])`;
      return `let ${key} = $names[$i]${value ? `, ${value} = ${read}; if (${value} === undefined) continue;` : `; if (${read} === undefined) continue;`} `;
    });
    return `for (let $table = ${list(call.arguments)}, $names = $keysOf($table), $i = 0; $i < $names.length; $i++) ${block}`;
  }
}

/** So that `one(node)` can be said without its object. */
function bound(expressions) {
  return {
    one: (node) => expressions.one(node),
    list: (nodes) => expressions.list(nodes),
    condition: (node) => expressions.condition(node),
  };
}

function iteratorOf({ base }) {
  if (base.name === 'ipairs' || base.name === 'pairs') return base.name;
  return base.base?.name === 'string' && base.identifier.name === 'gmatch' ? 'gmatch' : undefined;
}

/** A step that is written as a number. */
function stepOf(node) {
  if (node.type === 'NumericLiteral') return node.value;
  const isNegative =
    node.type === 'UnaryExpression' && node.operator === '-' && node.argument.type === 'NumericLiteral';
  return isNegative ? -node.argument.value : undefined;
}

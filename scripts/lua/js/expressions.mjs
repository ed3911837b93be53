import { GLOBALS } from '../globals.mjs';
import { BUILTINS, CONSTANTS, libraryCall, TAKES_PATTERN } from './builtins.mjs';
import { keyOf } from './facts.mjs';
import { atRow } from './lines.mjs';
import { isPlain, toRegExp } from './patterns.mjs';
import { literalOf, valueOfText } from './text.mjs';
import { baseOf, commandOf, isInput, kindOf, libraryNameOf } from './value-kinds.mjs';

const ARITHMETIC = { '+': '$add', '-': '$sub', '*': '$mul', '/': '$div', '%': '$mod', '^': '$pow' };
/** Those that mean the same in JavaScript, where both sides are numbers. */
const PLAIN_ARITHMETIC = new Set(['+', '-', '*', '/']);
const COMPARISONS = { '<': '$lt', '<=': '$le', '>': '$gt', '>=': '$ge' };

/** Emits expressions of Lua as JavaScript. `statements` emits the bodies of functions. */
export class Expressions {
  /** Regular expressions of all files, by their source. */
  #patterns;
  #facts;
  #names;
  #refuse;
  #statements;
  /** How many places each function has for values that are looked at twice. */
  #temps = [0];

  constructor(names, facts, patterns, refuse, statements) {
    this.#names = names;
    this.#facts = facts;
    this.#patterns = patterns;
    this.#refuse = refuse;
    this.#statements = statements;
  }

  /** Declares the places that the code around it needs, to stand before it. */
  get declaredTemps() {
    const count = this.#temps.at(-1);
    return count === 0 ? '' : `let ${Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ')}; `;
  }

  /** One value. */
  one(node) {
    if (!this.#mayBeMany(node)) return this.raw(node);
    const code = this.raw(node);
    const builtin = node.type === 'CallExpression' ? this.#builtinOf(node.base) : undefined;
    if (builtin === 'string.match') return code.replace('$string_match(', '$matchOne(');
    return `$first(${code})`;
  }

  /** Whether it is a number, wherever the script is right. */
  isNumber(node) {
    return baseOf(this.#kindOf(node)) === 'number';
  }

  #kindOf(node) {
    return (
      kindOf(node, {
        kindOf: (name) => this.#names.kindOf(name) ?? this.#facts.kindOf(name),
        isLocal: (name) => this.#names.isLocal(name),
        answerOf: (base) => this.#answerOf(base),
      }) ?? 'any'
    );
  }

  #answerOf(base) {
    const key = this.#keyOf(base);
    return key === undefined ? 'any' : this.#facts.answerOf(key);
  }

  /** Of what is called: `undefined` for a parameter, or for what has no name. */
  #keyOf(base) {
    return isName(base) && this.#names.kindOf(base.name) !== undefined ? undefined : keyOf(base);
  }

  /** Values with commas between them; the last may be many. */
  list(nodes) {
    this.#refuseNext(nodes.at(-1));
    return nodes
      .map((node, i) => (i === nodes.length - 1 && this.#isMany(node) ? this.#spread(node) : this.one(node)))
      .join(', ');
  }

  /** Where all values of a call are asked for. */
  #refuseNext(node) {
    if (node?.type === 'CallExpression' && !node.inParens && this.#builtinOf(node.base) === 'next')
      this.#refuse(node, "the kit is told the key alone by 'next': use pairs, or put the call in parentheses");
  }

  /** As an array. */
  array(nodes) {
    const [only] = nodes;
    if (nodes.length === 1 && this.#isMany(only)) return this.#asArray(only);
    return `[${this.list(nodes)}]`;
  }

  /** What a function returns: one value, or an array of several. */
  returned(nodes) {
    this.#refuseNext(nodes.at(-1));
    if (nodes.length > 1) return this.array(nodes);
    return this.#isMany(nodes[0]) ? this.raw(nodes[0]) : this.one(nodes[0]);
  }

  /** True in JavaScript where the value is true in Lua. */
  condition(node) {
    if (node.type === 'LogicalExpression')
      return `(${this.condition(node.left)} ${node.operator === 'and' ? '&&' : '||'} ${this.condition(node.right)})`;
    if (node.type === 'UnaryExpression' && node.operator === 'not') return `!${this.condition(node.argument)}`;
    // Neither a table nor a function is false to JavaScript, other than 0 and ''.
    if (AS_IN_JS.has(baseOf(this.#kindOf(node)))) return this.one(node);
    if (isName(node)) return this.#isTrue(this.raw(node));
    return `$isTrue(${this.one(node)})`;
  }

  /** A name or a field, to be written to: code that writes `value`. */
  assignment(target, value, table = undefined, key = undefined) {
    if (target.type === 'Identifier') {
      if (!this.#names.isLocal(target.name) && BUILTINS.has(target.name))
        this.#refuse(target, `'${target.name}' is Lua's own: give the local another name`);
      return `${this.#names.of(target.name)} = ${value}`;
    }
    const base = table ?? this.one(target.base);
    if (target.type === 'MemberExpression') return `${base}.${target.identifier.name} = ${value}`;
    if (key === undefined && isEndOf(target)) return `$push(${base}, ${value})`;
    return `$set(${base}, ${key ?? this.one(target.index)}, ${value})`;
  }

  func({ parameters, body }) {
    this.#names.open();
    this.#temps.push(0);
    const names = parameters.map((each) =>
      each.type === 'VarargLiteral' ? '...$rest' : this.#names.declare(each, 'any'),
    );
    const code = this.#statements(body);
    const temps = this.declaredTemps;
    this.#temps.pop();
    this.#names.close();
    return `(${names.join(', ')}) => { ${temps}${code} }`;
  }

  /** Emitted without a look at how many values there are. */
  raw(node) {
    switch (node.type) {
      case 'NilLiteral':
        return 'undefined';
      case 'BooleanLiteral':
      case 'NumericLiteral':
        return String(node.value);
      case 'StringLiteral':
        return literalOf(this.#text(node));
      case 'VarargLiteral':
        return '$rest';
      case 'Identifier':
        return this.#name(node);
      case 'FunctionDeclaration':
        return this.func(node);
      case 'TableConstructorExpression':
        return this.#table(node);
      case 'MemberExpression':
      case 'IndexExpression':
        return atRow(node.loc.start.line) + this.#field(node);
      case 'CallExpression':
        return atRow(node.loc.start.line) + this.#call(node);
      case 'UnaryExpression':
        return this.#unary(node);
      case 'BinaryExpression':
        return this.#binary(node);
      case 'LogicalExpression':
        return this.#logical(node);
      default:
        return this.#refuse(node, `the kit cannot run ${node.type}: write it in another way`);
    }
  }

  #text(node) {
    return valueOfText(node.raw) ?? this.#refuse(node, `${node.raw}: write it in quotes`);
  }

  #name(node) {
    const { name } = node;
    if (this.#names.isLocal(name)) return this.#names.of(name);
    if (BUILTINS.has(name)) return libraryCall(name);
    return GLOBALS.has(name) ? this.#refuseUnknown(node, name) : this.#names.of(name);
  }

  /** `string.match` of a node, unless `string` is a local. */
  #builtinOf(node) {
    const name = libraryNameOf(node, (each) => this.#names.isLocal(each));
    if (name !== undefined && !BUILTINS.has(name) && !CONSTANTS.has(name)) this.#refuseUnknown(node, name);
    return name;
  }

  #refuseUnknown(node, name) {
    return this.#refuse(
      node,
      `the kit does not know ${name}: add it to scripts/lua/js/builtins.mjs and to the library of the kit`,
    );
  }

  #field(node) {
    const builtin = this.#builtinOf(node);
    if (builtin) return CONSTANTS.get(builtin) ?? libraryCall(builtin);
    if (node.type === 'MemberExpression') {
      if (node.indexer !== '.') this.#refuse(node, 'the kit knows no methods: call the function with its table');
      return `${this.one(node.base)}.${node.identifier.name}`;
    }
    if (isInput(node, { isLocal: (name) => this.#names.isLocal(name) }))
      return `$${node.base.name.toLowerCase()}[${node.index.value - 1}]`;
    const read = this.#kindOf(node.index) === 'number' ? '$at' : '$get';
    return `${read}(${this.one(node.base)}, ${this.one(node.index)})`;
  }

  #call(node) {
    const args = [...node.arguments];
    const builtin = this.#builtinOf(node.base);
    if (!builtin) return `${this.one(node.base)}(${this.list(args)})`;
    if (builtin === 'redis.call' || builtin === 'redis.pcall') return this.#redisCall(node, builtin);
    const pattern = TAKES_PATTERN.has(builtin) ? this.#pattern(builtin, args) : undefined;
    if (!pattern) return `${libraryCall(builtin)}(${this.list(args)})`;
    const rest = args.length > 2 ? `, ${this.list(args.slice(2))}` : '';
    return `${libraryCall(builtin)}(${this.one(args[0])}, ${pattern}${rest})`;
  }

  /** The arguments are an array that is nobody else's. */
  #redisCall(node, builtin) {
    const command = commandOf(node, builtin);
    const args = command === undefined ? node.arguments : node.arguments.slice(1);
    return `$redis.${command ?? builtin.slice('redis.'.length)}([${this.list(args)}])`;
  }

  /** A pattern that stands in the script becomes a regular expression here; `undefined` for others, and where it is plain text. */
  #pattern(builtin, [, pattern, , plain]) {
    if (pattern?.type !== 'StringLiteral') return undefined;
    const text = this.#text(pattern);
    if (builtin === 'string.find' && (plain !== undefined || isPlain(text))) return undefined;
    if (builtin === 'string.gmatch' && text.startsWith('^')) this.#refuse(pattern, "a pattern of gmatch has no '^'");
    return `$patterns[${this.#patterns.indexOf(this.#regExp(pattern, text))}]`;
  }

  #regExp(node, text) {
    try {
      return String(toRegExp(text));
    } catch (error) {
      return this.#refuse(node, error.message);
    }
  }

  #table({ fields }) {
    const items = fields.filter(({ type }) => type === 'TableValue').map(({ value }) => value);
    const named = fields.filter(({ type }) => type !== 'TableValue');
    const made = `new $Table(${items.length === 0 ? '' : `[${this.list(items)}]`})`;
    if (named.length === 0) return made;
    const temp = this.newTemp();
    const writes = named.map(({ type, key, value }) => {
      const start = atRow(key.loc.start.line);
      if (type === 'TableKeyString') return `${start}${temp}.${key.name} = ${this.one(value)}`;
      return `${start}$set(${temp}, ${this.one(key)}, ${this.one(value)})`;
    });
    return `(${temp} = ${made}, ${writes.join(', ')}, ${temp})`;
  }

  #unary({ operator, argument }) {
    if (operator === 'not') return `!${this.condition(argument)}`;
    if (operator === '#') {
      const kind = this.#kindOf(argument);
      if (kind === 'string') return `${this.one(argument)}.length`;
      return kind === 'table' ? `${this.one(argument)}.$list.length` : `$length(${this.one(argument)})`;
    }
    return this.isNumber(argument) ? `(-${this.one(argument)})` : `$neg(${this.one(argument)})`;
  }

  #binary({ operator, left, right }) {
    const sides = () => [this.one(left), this.one(right)];
    if (operator === '..') return `(${this.#concatenated(left)} + ${this.#concatenated(right)})`;
    if (operator === '==' || operator === '~=') return `(${sides().join(operator === '==' ? ' === ' : ' !== ')})`;
    const areNumbers = this.isNumber(left) && this.isNumber(right);
    if (areNumbers && (PLAIN_ARITHMETIC.has(operator) || operator in COMPARISONS))
      return `(${sides().join(` ${operator} `)})`;
    return `${ARITHMETIC[operator] ?? COMPARISONS[operator]}(${sides().join(', ')})`;
  }

  #concatenated(node) {
    return this.#kindOf(node) === 'string' ? this.one(node) : `$text(${this.one(node)})`;
  }

  /** Answers one of its sides; what decides is looked at twice. */
  #logical({ operator, left, right }) {
    if (this.#kindOf(left) === 'boolean')
      return `(${this.one(left)} ${operator === 'and' ? '&&' : '||'} ${this.one(right)})`;
    if (
      left.type === 'LogicalExpression' &&
      left.operator === 'and' &&
      operator === 'or' &&
      KINDS.has(this.#kindOf(left.right))
    )
      return `(${this.condition(left.left)} ? ${this.one(left.right)} : ${this.one(right)})`;
    const name = isName(left) ? this.raw(left) : this.newTemp();
    const decides = isName(left) ? name : `(${name} = ${this.one(left)})`;
    const isTrue = `(${decides} !== undefined && ${name} !== false)`;
    return operator === 'and'
      ? `(${isTrue} ? ${this.one(right)} : ${name})`
      : `(${isTrue} ? ${name} : ${this.one(right)})`;
  }

  #isTrue(name) {
    return `(${name} !== undefined && ${name} !== false)`;
  }

  /** A place of the function around. */
  newTemp() {
    this.#temps[this.#temps.length - 1]++;
    return `$${this.#temps.at(-1)}`;
  }

  /** Whether all values of it are meant. */
  #isMany(node) {
    return !node.inParens && this.#mayBeMany(node);
  }

  /** Whether it answers an array where it has several. */
  #mayBeMany(node) {
    if (node.type === 'VarargLiteral') return true;
    if (node.type !== 'CallExpression') return false;
    const builtin = this.#builtinOf(node.base);
    if (builtin !== undefined) return BUILTINS.get(builtin) === 'many';
    const key = this.#keyOf(node.base);
    return key === undefined || !this.#facts.answersOne(key);
  }

  #asArray(node) {
    const builtin = node.type === 'CallExpression' ? this.#builtinOf(node.base) : undefined;
    if (node.type === 'VarargLiteral' || builtin === 'unpack') return this.raw(node);
    const code = this.raw(node);
    if (builtin === 'string.match') return code.replace('$string_match(', '$captures(');
    return `$all(${code})`;
  }

  #spread(node) {
    return `...${this.#asArray(node)}`;
  }
}

/** `t[#t + 1]`, of a name. */
function isEndOf({ base, index }) {
  return (
    isName(base) &&
    index.type === 'BinaryExpression' &&
    index.operator === '+' &&
    index.left.operator === '#' &&
    index.left.argument.name === base.name &&
    index.right.type === 'NumericLiteral' &&
    index.right.value === 1
  );
}

const isName = ({ type }) => type === 'Identifier';

const AS_IN_JS = new Set(['boolean', 'table', 'function']);
const KINDS = new Set(['number', 'string', 'table', 'function']);

import { BUILTINS } from './builtins.mjs';
import { either, kindOf, libraryNameOf } from './value-kinds.mjs';

/**
 * What is known of names by all that any file writes to them. A part uses names of the file around it, so a name that is no parameter is taken
 * for the same wherever it stands. Fields are known by their names too, whatever the table, as far as they hold functions.
 */
export class Facts {
  /** Names that stand behind a point: these are properties of tables, see lib/testing/redis/lua/table.ts. */
  fields = new Set(['err', 'ok', '__index']);
  /** What is written to a name, and to a field under its name with a point before it: `{ node, scope }`, no node for nil; or `ANY`. */
  #written = new Map();
  /** By node: `{ scope, returned }`, the lists of values that it returns. */
  #functions = new Map();
  #kinds = new Map();
  #answers = new Map();
  #many = new Set();

  constructor(chunks) {
    for (const chunk of chunks) this.#visit(chunk.body, new Map(), undefined);
    while (this.#learns());
  }

  kindOf(name) {
    return this.#kinds.get(name) ?? 'any';
  }

  /** Whether a call of what lies there answers one value at most. `key`: a name, or the name of a field with a point before it. */
  answersOne(key) {
    const written = this.#written.get(key);
    return written?.every((each) => isNil(each) || (isFunction(each) && !this.#many.has(each.node))) ?? false;
  }

  /** The kind of what such a call answers first. */
  answerOf(key) {
    let kind;
    for (const each of this.#written.get(key) ?? [ANY]) {
      if (isNil(each)) continue;
      if (!isFunction(each)) return 'any';
      kind = either(kind, this.#answers.get(each.node));
    }
    return kind;
  }

  /** False once nothing more can be learnt. */
  #learns() {
    let isMore = false;
    const note = (map, key, kind) => {
      const known = map.get(key);
      const now = either(known, kind);
      if (now === known) return;
      map.set(key, now);
      isMore = true;
    };
    for (const [key, written] of this.#written)
      if (!key.startsWith('.')) for (const each of written) note(this.#kinds, key, this.#kindOf(each));
    for (const [node, { scope, returned }] of this.#functions)
      for (const values of returned) {
        note(this.#answers, node, this.#kindOf({ node: values[0], scope }));
        if (this.#many.has(node) || !this.#areMany(values, scope)) continue;
        this.#many.add(node);
        isMore = true;
      }
    return isMore;
  }

  #kindOf(written) {
    if (written === ANY) return 'any';
    const { node, scope } = written;
    if (node === undefined) return 'nil';
    return kindOf(node, {
      kindOf: (name) => scope.get(name) ?? (this.#written.has(name) ? this.#kinds.get(name) : 'any'),
      isLocal: (name) => this.#isLocal(name, scope),
      answerOf: (base) => (isNamed(base, scope) ? this.answerOf(keyOf(base)) : 'any'),
    });
  }

  #isLocal(name, scope) {
    return scope.has(name) || this.#written.has(name);
  }

  #areMany(values, scope) {
    if (values.length !== 1) return values.length > 1;
    const [{ type, base, inParens }] = values;
    if (type === 'VarargLiteral') return true;
    if (type !== 'CallExpression' || inParens) return false;
    const builtin = libraryNameOf(base, (name) => this.#isLocal(name, scope));
    if (builtin !== undefined) return BUILTINS.get(builtin) === 'many';
    return !isNamed(base, scope) || !this.answersOne(keyOf(base));
  }

  #write(key, written) {
    if (!this.#written.has(key)) this.#written.set(key, []);
    this.#written.get(key).push(written);
  }

  #writes(places, values, scope) {
    for (const [i, place] of places.entries()) {
      const key = keyOf(place);
      if (key === undefined) continue;
      // The last call may answer values for the places that are left.
      const isOfCall = i >= values.length && values.length > 0;
      this.#write(key, isOfCall ? ANY : { node: values[i], scope });
    }
  }

  /** `scope`: the kinds of the parameters and loop variables around; `returned`: of the function around. */
  #visit(node, scope, returned) {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const each of node) this.#visit(each, scope, returned);
      return;
    }
    const { type } = node;
    if (type === 'FunctionDeclaration') return this.#function(node, scope);
    if (type === 'ForNumericStatement') {
      this.#visit([node.start, node.end, node.step], scope, returned);
      return this.#visit(node.body, new Map([...scope, [node.variable.name, 'number']]), returned);
    }
    if (type === 'ForGenericStatement') {
      this.#visit(node.iterators, scope, returned);
      return this.#visit(node.body, withNames(scope, node.variables), returned);
    }
    if (type === 'LocalStatement' || type === 'AssignmentStatement') this.#writes(node.variables, node.init, scope);
    if (type === 'ReturnStatement') returned?.push(node.arguments);
    if (type === 'MemberExpression') this.fields.add(node.identifier.name);
    if (type === 'TableKeyString') {
      this.fields.add(node.key.name);
      this.#write(`.${node.key.name}`, { node: node.value, scope });
    }
    for (const [key, child] of Object.entries(node))
      if (key !== 'loc' && key !== 'range') this.#visit(child, scope, returned);
  }

  #function(node, scope) {
    const key = node.identifier && keyOf(node.identifier);
    if (key) this.#write(key, { node, scope });
    if (node.identifier?.type === 'MemberExpression') this.fields.add(node.identifier.identifier.name);
    const inside = withNames(scope, node.parameters);
    const returned = endsInReturn(node.body) ? [] : [[]];
    this.#functions.set(node, { scope: inside, returned });
    this.#visit(node.body, inside, returned);
  }
}

const ANY = Symbol('any');
const isNil = (written) => written !== ANY && (written.node === undefined || written.node.type === 'NilLiteral');
const isFunction = (written) => written !== ANY && written.node?.type === 'FunctionDeclaration';

/** `undefined` for what lies under no name. */
export function keyOf({ type, name, identifier }) {
  if (type === 'Identifier') return name;
  return type === 'MemberExpression' ? `.${identifier.name}` : undefined;
}

const isNamed = (base, scope) => keyOf(base) !== undefined && !(base.type === 'Identifier' && scope.has(base.name));

const withNames = (scope, names) =>
  new Map([...scope, ...names.filter(({ type }) => type === 'Identifier').map(({ name }) => [name, 'any'])]);

function endsInReturn(statements) {
  const last = statements.at(-1);
  if (last?.type === 'ReturnStatement') return true;
  if (last?.type === 'DoStatement') return endsInReturn(last.body);
  return (
    last?.type === 'IfStatement' &&
    last.clauses.at(-1).type === 'ElseClause' &&
    last.clauses.every(({ body }) => endsInReturn(body))
  );
}

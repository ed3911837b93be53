import luaparse from 'luaparse';
import { Fields } from './fields.mjs';
import { LuaProblem } from './problem.mjs';

/**
 * Finds by Lua's own rules of scope what the names of a chunk are. Answers
 * - `free`: uses of names that are no local of the chunk: { name, line, column, isWrite, isRepeated: in a loop or a function }
 * - `locals`: its locals and parameters: { name, line, isTop: declared outside of every block, hides: a local of that name is visible,
 *   readAt: the lines in which its value is used, places: { line, column } of each time that the chunk names it, wouldHide: the locals that
 *   it would hide from somebody who uses them, if it had their name }
 * - `fields`: by variable, the named fields of the tables that its free names and its locals at the top stand for, see fields.mjs
 * Throws `LuaProblem` where the text is no Lua 5.1; `lineOf` answers the number that a line has in the file.
 */
export function namesOf(file, text, lineOf = (line) => line) {
  const walk = new Walk();
  walk.block(parse(file, text, lineOf).body);
  return { free: walk.free, locals: walk.locals, fields: walk.fields };
}

function parse(file, text, lineOf) {
  try {
    return luaparse.parse(text, { luaVersion: '5.1', locations: true, comments: false });
  } catch (error) {
    throw new LuaProblem(file, lineOf(error.line ?? 1), error.message.replace(/^\[\d+:\d+\] /, ''));
  }
}

class Walk {
  free = [];
  locals = [];
  fields = new Fields();
  #scopes = [];
  #repeats = 0;

  /** Statements in a scope of their own; `names` are declared before the first, `last` is read in the scope after the last. */
  block(statements, names = [], last = undefined) {
    this.#scopes.push(new Map());
    for (const name of names) this.#declare(name);
    for (const statement of statements) this.#statement(statement);
    this.#read(last);
    this.#scopes.pop();
  }

  #repeated(statements, names, last) {
    this.#repeats++;
    this.block(statements, names, last);
    this.#repeats--;
  }

  #declare(identifier) {
    // Not `...`.
    if (identifier.type !== 'Identifier') return;
    const { name, loc } = identifier;
    const isTop = this.#scopes.length === 1;
    const hides = this.#find(name) !== undefined;
    const local = { name, line: loc.start.line, isTop, hides, readAt: [], places: [loc.start], wouldHide: new Set() };
    this.locals.push(local);
    // Anew where the scope has one of that name: a scope is in the order of its declarations.
    this.#scopes.at(-1).delete(name);
    this.#scopes.at(-1).set(name, local);
  }

  /** The local that a name stands for here. */
  #find(name) {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }

  #use({ name, loc }, isWrite) {
    const { line, column } = loc.start;
    const local = this.#find(name);
    if (!local) return this.free.push({ name, line, column, isWrite, isRepeated: this.#repeats > 0 });
    if (!isWrite) local.readAt.push(line);
    local.places.push(loc.start);
    for (const later of this.#declaredSince(local)) later.wouldHide.add(local);
  }

  /** The locals that are visible here and were declared after this one. */
  *#declaredSince(local) {
    let isSince = false;
    for (const scope of this.#scopes)
      for (const each of scope.values()) {
        if (isSince) yield each;
        isSince ||= each === local;
      }
  }

  #write(target) {
    if (target.type === 'Identifier') return this.#use(target, true);
    if (this.#isFieldOfShared(target)) {
      this.fields.noteSet(target.base.name, target.identifier.name, target.loc.start.line);
      return this.#use(target.base, false);
    }
    this.#read(target);
  }

  /** Whether a name may mean something to other files: it is no local, or one at the top. */
  #isShared({ name }) {
    return this.#find(name)?.isTop ?? true;
  }

  #isFieldOfShared({ type, indexer, base }) {
    return type === 'MemberExpression' && indexer === '.' && base.type === 'Identifier' && this.#isShared(base);
  }

  #noteValues(targets, values) {
    for (const [i, target] of targets.entries())
      if (target.type === 'Identifier' && this.#isShared(target))
        this.fields.noteValue(target.name, values[i] ?? (values.length > 0 ? values.at(-1) : undefined));
  }

  #statement(node) {
    switch (node.type) {
      case 'LocalStatement':
        for (const value of node.init) this.#read(value);
        for (const name of node.variables) this.#declare(name);
        this.#noteValues(node.variables, node.init);
        break;
      case 'AssignmentStatement':
        for (const value of node.init) this.#read(value);
        for (const target of node.variables) this.#write(target);
        this.#noteValues(node.variables, node.init);
        break;
      case 'FunctionDeclaration':
        if (node.isLocal) this.#declare(node.identifier);
        else this.#write(node.identifier);
        this.#repeated(node.body, node.parameters);
        break;
      case 'ForNumericStatement':
        for (const value of [node.start, node.end, node.step]) this.#read(value);
        this.#repeated(node.body, [node.variable]);
        break;
      case 'ForGenericStatement':
        for (const value of node.iterators) this.#read(value);
        this.#repeated(node.body, node.variables);
        break;
      case 'IfStatement':
        for (const clause of node.clauses) {
          this.#read(clause.condition);
          this.block(clause.body);
        }
        break;
      case 'WhileStatement':
        this.#read(node.condition);
        this.#repeated(node.body);
        break;
      case 'RepeatStatement':
        this.#repeated(node.body, [], node.condition);
        break;
      case 'DoStatement':
        this.block(node.body);
        break;
      default:
        this.#read(node);
    }
  }

  /** Names in an expression, or in a statement that is a call, a `return` or a `break`. */
  #read(node) {
    if (!node) return;
    if (node.type === 'Identifier') return this.#use(node, false);
    if (node.type === 'FunctionDeclaration') return this.#repeated(node.body, node.parameters);
    // The names of fields are no variables.
    if (node.type === 'MemberExpression') {
      if (this.#isFieldOfShared(node)) this.fields.noteRead(node.base.name, node.identifier.name, node.loc.start.line);
      return this.#read(node.base);
    }
    if (node.type === 'TableKeyString') return this.#read(node.value);
    for (const [key, value] of Object.entries(node)) {
      if (key === 'loc' || value === null || typeof value !== 'object') continue;
      for (const child of Array.isArray(value) ? value : [value]) this.#read(child);
    }
  }
}

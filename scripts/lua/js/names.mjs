/** Words of JavaScript that Lua lets a name be, and names that the emitted code needs with their own meaning. */
const WORDS = new Set(
  `arguments await case catch class const continue debugger default delete enum eval export extends finally implements import instanceof
  interface let new null package private protected public static super switch this throw try typeof undefined var void with yield
  Infinity NaN`.split(/\s+/),
);

/** The name in JavaScript of a name that files share. */
export const jsLocalOf = (name) => (WORDS.has(name) ? `${name}$` : name);

/**
 * The locals of one file while its code is emitted. JavaScript knows a name in its whole block, also before its declaration, and once in a
 * block; Lua from its declaration on, and again after that. So a local whose name means something else in the same file gets a number.
 */
export class Names {
  #scopes = [];
  #free;
  #shared;
  #numbered = 0;
  #refuse;

  /** `free`: names that are no locals of the file; `shared`: "<row>:<column>" of the locals that parts in it use by their name. */
  constructor(free, shared, refuse) {
    this.#free = free;
    this.#shared = shared;
    this.#refuse = refuse;
  }

  open() {
    this.#scopes.push(new Map());
  }

  close() {
    this.#scopes.pop();
  }

  /**
   * Declares a name of Lua, and answers what it is called in JavaScript. `kind`: of a parameter or what a loop counts; other names are known by
   * what is written to them.
   */
  declare({ name, loc }, kind = undefined) {
    const isTaken = this.#find(name) !== undefined || this.#free.has(name);
    if (isTaken && this.#shared.has(`${loc.start.line}:${loc.start.column}`))
      this.#refuse(
        loc.start.line,
        `'${name}' hides another '${name}' from the parts that use it: give one of the two another name`,
      );
    return this.#add(name, isTaken ? `${name}$${++this.#numbered}` : jsLocalOf(name), kind);
  }

  /** Declares a name that a part gives: files know it by its own name. */
  declareShared(name) {
    return this.#add(name, jsLocalOf(name));
  }

  isLocal(name) {
    return this.#find(name) !== undefined;
  }

  of(name) {
    return this.#find(name)?.js ?? jsLocalOf(name);
  }

  /** See `declare`. */
  kindOf(name) {
    return this.#find(name)?.kind;
  }

  #add(name, js, kind = undefined) {
    this.#scopes.at(-1).set(name, { js, kind });
    return js;
  }

  #find(name) {
    return this.#scopes.findLast((scope) => scope.has(name))?.get(name);
  }
}

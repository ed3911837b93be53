/** Why the scripts cannot be embedded: file, line and, in the text, the name and what to do. */
export class LuaProblem extends Error {
  constructor(file, line, text) {
    super(`${file}:${line}: ${text}`);
    this.name = 'LuaProblem';
  }
}

/** Throws one error that lists all problems. */
export function refuse(problems) {
  if (problems.length === 0) return;
  throw new Error(`The Lua scripts are refused:\n${problems.map(({ message }) => message).join('\n')}`);
}

import luaparse from 'luaparse';

const { EOF, Identifier, NumericLiteral } = luaparse.tokenTypes;

/** The local that stands for `redis.call`, which would be looked up twice for each command. No short name is of one large letter. */
export const CALL = 'C';

/** A number, or the difference of two: a constant may have been put in the place of its name. */
const FIXED_NUMBER = /^(-?\d+)(?:-(\d+))?$/;

/**
 * A line of Lua without its comment, its indent, and spaces that separate nothing. `nameAt(name, column)` answers what stands in the place of a name; it is
 * asked of fields too. Throws where a text or a comment goes on in the next line.
 * `redis.call` becomes a local, see `CALL`.
 * A fixed number that a command is given becomes text: Redis prints each number that comes from a script as one that may have a fraction, which takes 2 000
 * instructions, of 490 000 a turn.
 */
export function compactLine(text, nameAt = (name) => name) {
  const lexer = luaparse.parse('', { wait: true, luaVersion: '5.1', comments: false });
  lexer.write(text);
  let compact = '';
  let isAfterNumber = false;
  const commands = new CommandArguments();
  for (let token = lexer.lex(); token.type !== EOF; token = lexer.lex()) {
    const raw = text.slice(...token.range);
    const next = token.type === Identifier ? nameAt(raw, token.range[0]) : raw;
    compact = commands.before(raw, compact);
    compact += (needsSpace(compact, next, isAfterNumber) ? ' ' : '') + next;
    if (raw === '(' && compact.endsWith('redis.call(')) compact = `${compact.slice(0, -'redis.call('.length)}${CALL}(`;
    commands.after(raw, compact);
    isAfterNumber = token.type === NumericLiteral;
  }
  return compact;
}

/** Words and numbers would become one; `1 ..` a number that is none; `- -` a comment, `[ [` a text, `.. .5` an ellipsis. */
function needsSpace(before, next, isAfterNumber) {
  if (/\w$/.test(before)) return /^\w/.test(next) || (isAfterNumber && next.startsWith('.'));
  return '-[.'.includes(next[0]) && before.endsWith(next[0]);
}

/** Follows the arguments of commands through a line. */
class CommandArguments {
  /** Of each bracket that is open: where the present argument begins, if it is one of a command. */
  #open = [];

  /** The line so far, where this token is the next one: it may end an argument. */
  before(token, compact) {
    const from = this.#open.at(-1);
    if (from === undefined || (token !== ',' && token !== ')')) return compact;
    const [, number, less = 0] = FIXED_NUMBER.exec(compact.slice(from)) ?? [];
    return number === undefined ? compact : `${compact.slice(0, from)}'${number - less}'`;
  }

  after(token, compact) {
    if (token === '(') this.#open.push(/(?<![.\w])(redis\.pcall|C)\($/.test(compact) ? compact.length : undefined);
    else if (token === '{' || token === '[') this.#open.push(undefined);
    else if (token === ')' || token === '}' || token === ']') this.#open.pop();
    else if (token === ',' && this.#open.at(-1) !== undefined) this.#open[this.#open.length - 1] = compact.length;
  }
}

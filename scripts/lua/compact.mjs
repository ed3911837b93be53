import luaparse from 'luaparse';

const { EOF, Identifier, NumericLiteral } = luaparse.tokenTypes;

/**
 * A line of Lua without its comment, its indent, and spaces that separate nothing. `nameAt(name, column)` answers what stands in the place of a name; it is
 * asked of fields too. Throws where a text or a comment goes on in the next line.
 */
export function compactLine(text, nameAt = (name) => name) {
  const lexer = luaparse.parse('', { wait: true, luaVersion: '5.1', comments: false });
  lexer.write(text);
  let compact = '';
  let isAfterNumber = false;
  for (let token = lexer.lex(); token.type !== EOF; token = lexer.lex()) {
    const raw = text.slice(...token.range);
    const next = token.type === Identifier ? nameAt(raw, token.range[0]) : raw;
    compact += (needsSpace(compact, next, isAfterNumber) ? ' ' : '') + next;
    isAfterNumber = token.type === NumericLiteral;
  }
  return compact;
}

/** Words and numbers would become one; `1 ..` a number that is none; `- -` a comment, `[ [` a text, `.. .5` an ellipsis. */
function needsSpace(before, next, isAfterNumber) {
  if (/\w$/.test(before)) return /^\w/.test(next) || (isAfterNumber && next.startsWith('.'));
  return '-[.'.includes(next[0]) && before.endsWith(next[0]);
}

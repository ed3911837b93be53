/** The inside of a regular expression's class: control, format, surrogate, private-use and unassigned characters, line and paragraph breaks. */
export const UNPRINTABLE = String.raw`\p{C}\p{Zl}\p{Zp}`;

const EACH_UNPRINTABLE = new RegExp(`[${UNPRINTABLE}]`, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Makes one line of text that somebody else wrote: each unprintable character becomes an escape such as `\n` or `\u001b`. An
 * error message often quotes what a stranger has sent; unescaped, that could look like further lines of the log.
 */
export function oneLine(text: string): string {
  return text.replace(EACH_UNPRINTABLE, visible);
}

function visible(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return SHORT[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}

/** What is not printable, for a class of characters: control, format, surrogate, private-use and unassigned characters, and line and paragraph breaks. */
export const UNPRINTABLE = String.raw`\p{C}\p{Zl}\p{Zp}`;

const EACH_UNPRINTABLE = new RegExp(`[${UNPRINTABLE}]`, 'gu');
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text that somebody else wrote, as one line of a log: line breaks, control characters and what turns the direction of writing
 * become escapes such as `\n` and `\u001b`. An error message often holds what a stranger has sent, who could forge lines else.
 */
export function oneLine(text: string): string {
  return text.replace(EACH_UNPRINTABLE, visible);
}

function visible(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return SHORT[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
}

/** How words are marked on a terminal that has colours. */
export interface Style {
  bold(text: string): string;
  red(text: string): string;
}

export function styleOf(hasColours: boolean): Style {
  const mark = (on: number, off: number) => (text: string) =>
    hasColours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: mark(1, 22), red: mark(31, 39) };
}

import { oneLine } from '../../core/read/one-line.js';

/** How wide an answer is at most. Only what must be typed in again, such as an id, may be wider: it is never cut. */
export const WIDTH = 100;

/** How many columns of a terminal a text takes, for most scripts. */
export function widthOf(text: string): number {
  return [...text].length;
}

/** A text as one line that no terminal takes for anything else, and cut to so many columns. */
export function cut(text: string, most: number): string {
  const line = oneLine(text);
  if (widthOf(line) <= most) return line;
  return `${[...line].slice(0, Math.max(0, most - 1)).join('')}…`;
}

/** Breaks a text between words into lines of at most `most` columns; a word that is longer stands alone. */
export function wrap(text: string, most = WIDTH): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of oneLine(text).split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > most) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A word as a shell takes it for one, whatever it holds. */
export function asTyped(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${oneLine(word).replaceAll("'", String.raw`'\''`)}'`;
}

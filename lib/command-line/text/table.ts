import { oneLine } from '../../core/read/one-line.js';
import type { Style } from './style.js';
import { cut, WIDTH, widthOf } from './words.js';

const GAP = '  ';
/** How far a value is moved in that stands below its key. */
const INDENT = '    ';
/** A column that gets what the others leave gets so much at least. */
const LEAST_REST = 20;

export interface Column {
  readonly title: string;
  /** To which side its cells are moved. Default left. */
  readonly side?: 'right';
  /** A cell is cut to so many columns. `'rest'`: to what the others leave; for the last column. */
  readonly most?: number | 'rest';
}

/**
 * Rows in columns, no wider than an answer may be. The first cell of a row is its key, which is typed in again: it is never cut, and where
 * it is too long for its column the rest of the row stands below it. `below`: a text for each row, in a line of its own.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { bold }: Style,
  below: readonly string[] = [],
): string {
  const cells = rows.map((row) =>
    row.map((cell, i) => {
      const { most = Number.POSITIVE_INFINITY } = columns[i]!;
      return i === 0 || most === 'rest' ? oneLine(cell) : cut(cell, most);
    }),
  );
  // Not as arguments of one Math.max: a call takes some 100 000 at most.
  const widths = columns.map(({ title }, i) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[i]!)), widthOf(title)),
  );
  const hasRest = columns.at(-1)!.most === 'rest';
  const others = widths.slice(1, hasRest ? -1 : undefined).reduce((sum, width) => sum + GAP.length + width, 0);
  const restLeast = hasRest ? GAP.length + Math.min(widths.at(-1)!, LEAST_REST) : 0;
  widths[0] = Math.min(widths[0]!, Math.max(widthOf(columns[0]!.title), INDENT.length, WIDTH - others - restLeast));
  if (hasRest) widths[widths.length - 1] = Math.max(0, WIDTH - widths[0] - others - GAP.length);

  const lineOf = (row: readonly string[]) => {
    const padded = row.map((cell, i) => {
      const { side, most } = columns[i]!;
      if (i === row.length - 1 && side === undefined) return most === 'rest' ? cut(cell, widths[i]!) : cell;
      const room = ' '.repeat(Math.max(0, widths[i]! - widthOf(cell)));
      return side === 'right' ? room + cell : cell + room;
    });
    return padded.join(GAP).trimEnd();
  };
  const lines = cells.flatMap(([key = '', ...row], i) => [
    ...(widthOf(key) <= widths[0]! ? [lineOf([key, ...row])] : [key, lineOf([INDENT, ...row])]),
    ...(below[i] ? [INDENT + cut(below[i], WIDTH - INDENT.length)] : []),
  ]);
  return [bold(lineOf(columns.map(({ title }) => title))), ...lines].join('\n');
}

/** One thing, a line for each of its properties. `''` as a value leaves the line out. */
export function pairs(rows: readonly (readonly [key: string, value: string])[], { bold }: Style): string {
  const shown = rows.filter(([, value]) => value !== '');
  const width = Math.max(...shown.map(([key]) => widthOf(key)));
  return shown
    .map(([key, value]) => {
      const lines = value.split('\n').map((line) => cut(line, WIDTH - width - GAP.length));
      return lines.map((line, i) => `${i === 0 ? bold(key.padEnd(width)) : ' '.repeat(width)}${GAP}${line}`).join('\n');
    })
    .join('\n');
}

// Marks in emitted code: where a line of Lua begins, and where a part stands. The code is ASCII, but for these.
const LINE = '«';
const PART = '»';

/** Code behind this mark stands in that row, or in a later one. */
export const atRow = (row) => `${LINE}${row};`;
export const partAt = (row) => `${PART}${row};`;

/**
 * Emitted code as pieces: `{ row, code }`, each of whose lines stands for the row of Lua with the same distance from `row`; and `{ part }`,
 * the row of the part that stands between two.
 */
export function inPieces(code) {
  const pieces = [];
  let row = 1;
  let piece = { row, code: '' };
  const end = () => {
    const blank = piece.code.match(/^\n*/)[0].length;
    const text = piece.code.slice(blank).trimEnd().replace(/ +\n/g, '\n');
    if (text !== '') pieces.push({ row: piece.row + blank, code: text });
  };
  for (const [, mark, at, text] of code.matchAll(/([«»])(\d+);|([^«»]+)/g)) {
    if (mark === LINE) {
      // What is read first stands first: a mark never leads back.
      for (; row < Number(at); row++) piece.code += '\n';
    } else if (mark === PART) {
      end();
      pieces.push({ part: Number(at) });
      row = Number(at) + 1;
      piece = { row, code: '' };
    } else piece.code += text;
  }
  end();
  return pieces;
}

/** The names of the keys in the table at the top of keys.ts, such as `jobs` and `lane:<lane>`, with what stands in each row. */
export function readKeyTable(text) {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith(' * | ') && !/^ \* \| (key|---)/.test(line))
    .map((line) =>
      line
        .slice(' * | '.length)
        .split('|')
        .map((cell) => cell.trim()),
    );
  return new Map(
    rows.map(([name, type, meaning, writtenBy, removedBy]) => [name, { name, type, meaning, writtenBy, removedBy }]),
  );
}

/** How many lines are shown before and after the one that is asked for. */
const AROUND = 3;

/**
 * The lines of a script, numbered as Redis' errors number them; each with the file and line that it comes from, its text there and, where
 * that differs, the text that goes over the wire. `what`: a script by its name or by the digest that stands in an error; with `:<line>`
 * behind it only that line and its neighbours. `scripts`: name, digest and lines of each.
 */
export function showScript(scripts, what) {
  const [, one, line] = what.match(/^(.*?)(?::(\d+))?$/);
  const script = scripts.find(({ name, sha }) => one === name || one === sha);
  if (!script)
    throw new Error(
      `There is no script '${one}': expected one of ${scripts.map(({ name }) => name).join(', ')}, or the digest of one. Of another version, check that out first.`,
    );
  const { lines } = script;
  const at = line === undefined ? undefined : Number(line);
  if (at < 1 || at > lines.length)
    throw new Error(`'${script.name}' has no line ${line}: expected 1 to ${lines.length}`);
  const origins = lines.map((each) => `${each.file}:${each.line}`);
  const width = Math.max(...origins.map(({ length }) => length));
  return lines
    .map(({ written, sent }, i) => ({
      number: i + 1,
      text: `${String(i + 1).padStart(5)}  ${origins[i].padEnd(width)}  ${written}${written === sent ? '' : `  -->  ${sent}`}\n`,
    }))
    .filter(({ number }) => at === undefined || Math.abs(number - at) <= AROUND)
    .map(({ text }) => text)
    .join('');
}

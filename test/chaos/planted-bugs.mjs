// Plants one bug at a time in a copy of this repository and shows that the chaos suite finds it. First the copy runs as it
// is: it must build and pass, or what is found in it afterwards would prove nothing.
//
//   npm run test:chaos:planted -- [--bugs FILE] [--seeds N] [--seconds N] [name…]
//     name       all bugs, where none is given
//     --bugs     a module whose BUGS are planted; planted-bugs/bugs.mjs
//     --seeds    how many seeds are tried, 1 first; what a bug needs to show may not happen under each; 3
//     --seconds  how long faults happen in each run; 12, or what a bug says that shows too seldom in that
//
// How it ends; of several, the highest:
//   0  each bug was found: a run violated a rule that the bug names
//   1  this tool itself failed
//   2  a bug was not found, be it that its text plants nothing
//   3  a bug's text is not in its file any more; nothing was run
//   4  a planted copy did not run: it does not build, a script does not compile or stops with an error, or hardly a job completed
//   5  the copy did not run, or not without violation, with nothing planted
//   64 an option or a name that is not known
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { isStale, RepositoryCopy } from './planted-bugs/repository-copy.mjs';
import { judgePlanted, problemOfUnplanted } from './planted-bugs/verdict.mjs';

const ENDS = { found: 0, missed: 2, stale: 3, failed: 4, unsound: 5, usage: 64 };
/** Of the run with nothing planted: long enough for each process to have worked. */
const UNPLANTED_SECONDS = 4;
const SECONDS = 12;

const say = (text) => process.stdout.write(`${text}\n`);
const asked = await readArguments().catch((error) => {
  say(error.message);
  process.exit(ENDS.usage);
});

const stale = asked.bugs.filter(isStale);
for (const { name, file, from } of stale)
  say(`## ${name}\nSTALE: ${file} does not hold ${JSON.stringify(from)} any more.`);
process.exitCode = stale.length > 0 ? ENDS.stale : findAll();

async function readArguments() {
  const options = { bugs: { type: 'string' }, seeds: { type: 'string' }, seconds: { type: 'string' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const list = values.bugs ? pathToFileURL(resolve(values.bugs)) : new URL('planted-bugs/bugs.mjs', import.meta.url);
  const { BUGS } = await import(list.href);
  const known = BUGS.map(({ name }) => name);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`There is no bug '${unknown}', expected one of: ${known.join(', ')}`);
  const bugs = BUGS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  return { bugs, seeds: Number(values.seeds ?? 3), seconds: values.seconds };
}

/** Returns how this process is to end. */
function findAll() {
  const copy = new RepositoryCopy();
  try {
    const unsound = copy.build() ?? problemOfUnplanted(copy.run(1, UNPLANTED_SECONDS));
    if (unsound) {
      say(`THE COPY DOES NOT PASS with nothing planted: ${unsound}`);
      return ENDS.unsound;
    }
    say(`With nothing planted: ${UNPLANTED_SECONDS} s of faults, no violation.`);
    const rows = [];
    let end = ENDS.found;
    for (const bug of asked.bugs) {
      const from = performance.now();
      const { kind, text } = copy.withBug(bug, () => find(copy, bug));
      end = Math.max(end, ENDS[kind]);
      if (kind === 'found') rows.push(rowOf(bug));
      say(
        `\n## ${bug.name}\n${kind.toUpperCase()} after ${((performance.now() - from) / 1_000).toFixed(0)} s: ${text}`,
      );
    }
    say(`\nFound, as rows of README.md:\n\n| planted | in | violates |\n|---|---|---|\n${rows.join('\n')}`);
    return end;
  } finally {
    copy.remove();
  }
}

/** Tries one seed after the other until one finds it. */
function find(copy, { rules, seconds = SECONDS }) {
  const broken = copy.build();
  if (broken) return { kind: 'failed', text: broken };
  let verdict;
  for (let seed = 1; seed <= asked.seeds; seed++) {
    const { kind, text } = judgePlanted(rules, copy.run(seed, asked.seconds ?? seconds));
    verdict = { kind, text: `seed ${seed}: ${text}` };
    if (kind !== 'missed') break;
  }
  return verdict;
}

/** How a bug stands in README.md. */
function rowOf({ name, file, rules }) {
  return `| ${name} | \`${file}\` | ${rules.map((rule) => `\`${rule}\``).join(', ')} |`;
}

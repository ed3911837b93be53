import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';

interface Change {
  file: string;
  from: string;
  to: string;
}
interface PlantedBug extends Change {
  name: string;
  rules: readonly string[];
  widenedBy?: readonly Change[];
}
interface Run {
  status: number | null;
  output: string;
  report?: { violations: { rule: string; message: string }[]; figures: Record<string, number> };
  logs: string;
}
interface Judges {
  judgePlanted(rules: readonly string[], run: Run): { kind: string; text: string };
  problemOfUnplanted(run: Run): string | undefined;
}
const load = (file: string): Promise<unknown> => import(`./planted-bugs/${file}`);
const { BUGS } = (await load('bugs.mjs')) as { BUGS: readonly PlantedBug[] };
const SCRIPTS = 'lib/store/redis/scripts/';
const { listScripts, readText } = (await import('../../scripts/embed-lua.mjs' as string)) as {
  listScripts(read: typeof readText): { lines: { file: string; sent: string }[] }[];
  readText(file: string): string | undefined;
};
const { judgePlanted, problemOfUnplanted } = (await load('verdict.mjs')) as Judges;

const changesOf = (bug: PlantedBug): Change[] => [bug, ...(bug.widenedBy ?? [])];

/** What Redis is sent of each .lua file, in all scripts. */
function sentOf(read: typeof readText): Map<string, string[]> {
  const sent = new Map<string, string[]>();
  for (const { file, sent: text } of listScripts(read).flatMap(({ lines }) => lines)) {
    const texts = sent.get(SCRIPTS + file);
    if (texts) texts.push(text);
    else sent.set(SCRIPTS + file, [text]);
  }
  return sent;
}

/** The names of the bugs in rounds, in none of which two change the same file: to embed all scripts takes a second. */
function roundsOf(bugs: readonly PlantedBug[]): [string[]][] {
  const rounds: { files: Set<string>; names: string[] }[] = [];
  for (const bug of bugs) {
    const files = changesOf(bug).map(({ file }) => file);
    const found = rounds.find((one) => !files.some((file) => one.files.has(file)));
    const round = found ?? { files: new Set(), names: [] };
    if (!found) rounds.push(round);
    for (const file of files) round.files.add(file);
    round.names.push(bug.name);
  }
  return rounds.map(({ names }) => [names]);
}

describe('the planted bugs', () => {
  const asTheyAre = sentOf(readText);

  it.each(BUGS)('$name: its text is in its file, and planting it changes that', (bug) => {
    for (const { file, from, to } of changesOf(bug)) {
      const text = readFileSync(file, 'utf8');
      expect(text).toContain(from);
      expect(to).not.toBe(from);
      expect(text.replaceAll(from, () => to)).not.toBe(text);
    }
  });

  it.each(roundsOf(BUGS.filter(({ file }) => file.endsWith('.lua'))))(
    '%j: their scripts can still be embedded',
    (names) => {
      const planted = BUGS.filter(({ name }) => names.includes(name));
      const changes = planted.flatMap(changesOf);
      const sent = sentOf((file) =>
        changes
          .filter((change) => change.file === SCRIPTS + file)
          .reduce((text, { from, to }) => text?.replaceAll(from, () => to), readText(file)),
      );
      for (const { file } of planted) expect(sent.get(file)).not.toEqual(asTheyAre.get(file));
    },
  );

  it.each(BUGS)('$name: names rules that there are', ({ rules }) => {
    const known = readdirSync('test/chaos/rules')
      .map((file) => readFileSync(`test/chaos/rules/${file}`, 'utf8'))
      .flatMap((text) =>
        [...text.matchAll(/about(?:All|Jobs|Lives|Recurrences)\('([\w-]+)'/g)].map(([, rule]) => rule),
      );
    expect(known.length).toBeGreaterThan(10);
    expect(rules.length).toBeGreaterThan(0);
    expect(rules.filter((rule) => !known.includes(rule))).toEqual([]);
  });

  it('stand in the README, each with its file and its rules', () => {
    const rows = readFileSync('test/chaos/README.md', 'utf8')
      .split('## Planted bugs')[1]!
      .matchAll(/^\| ([^|]+) \| `(.+?)` \| (.+) \|$/gm);
    const listed = [...rows].map(([, name, file, rules]) => ({
      name,
      file,
      rules: [...rules!.matchAll(/`(.+?)`/g)].map(([, rule]) => rule),
    }));
    expect(listed).toEqual(BUGS.map(({ name, file, rules }) => ({ name, file, rules })));
  });
});

describe('a run of a copy in which a bug is planted', () => {
  const RULES = ['everybody-lives', 'one-state'];
  const runWith = (...rules: string[]): Run => ({
    status: rules.length > 0 ? 1 : 0,
    output: '',
    report: { violations: rules.map((rule) => ({ rule, message: 'no' })), figures: { completed: 200 } },
    logs: '',
  });

  it.each<[string, Run, string]>([
    ['has found it where it violates a rule that the bug names', runWith('never-early', 'one-state'), 'found'],
    ['has not found it where it violates nothing', runWith(), 'missed'],
    ['has not found it where it violates other rules', runWith('never-early'), 'missed'],
    ['has failed where it did not come to its end', { ...runWith(), status: 1, report: undefined }, 'failed'],
    [
      'has failed where a script stopped with an error, and so nobody went on',
      { ...runWith('everybody-lives'), logs: 'ERR user_script:3: no' },
      'failed',
    ],
    [
      'has found it where it violates a rule that a standstill does not explain',
      { ...runWith('everybody-lives', 'one-state'), logs: 'ERR user_script:3: no' },
      'found',
    ],
    [
      'has failed where hardly anything happened',
      { ...runWith('one-state'), report: { ...runWith('one-state').report!, figures: { completed: 3 } } },
      'failed',
    ],
  ])('%s', (_what, run, kind) => {
    expect(judgePlanted(RULES, run).kind).toBe(kind);
  });

  it('counts only where a run of the same copy, with nothing planted, has passed', () => {
    expect(problemOfUnplanted(runWith())).toBeUndefined();
    expect(problemOfUnplanted(runWith('never-early'))).toContain('never-early: 1');
    expect(problemOfUnplanted({ ...runWith(), report: undefined, output: 'ENOENT' })).toContain('ENOENT');
  });
});

describe('npm run test:chaos:planted', () => {
  let directory: string;
  afterEach(() => rmSync(directory, { recursive: true }));

  function plant(bug: PlantedBug, ...args: string[]) {
    directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-bugs-'));
    const list = join(directory, 'bugs.mjs');
    writeFileSync(list, `export const BUGS = ${JSON.stringify([bug])};`);
    const all = ['test/chaos/planted-bugs.mjs', '--bugs', list, ...args];
    const { status, stdout } = spawnSync(process.execPath, all, {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    return { status, stdout };
  }

  const file = 'lib/store/redis/scripts/change/cancel.lua';

  it('ends with 3 and runs nothing where a text is not in its file any more', () => {
    const { status, stdout } = plant({ name: 'b', file, from: 'no such text', to: '', rules: ['one-state'] });
    expect({ status, stdout }).toEqual({
      status: 3,
      stdout: `## b\nSTALE: ${file} does not hold "no such text" any more.\n`,
    });
  });

  it('ends with 64 where it does not know the bug', () => {
    const { status, stdout } = plant({ name: 'b', file, from: 'local', to: '', rules: ['one-state'] }, 'c');
    expect({ status, stdout }).toEqual({ status: 64, stdout: "There is no bug 'c', expected one of: b\n" });
  });
});

import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { shown } from '../../bench/report/numbers.js';

// What somebody reads first, compared with what is there.

const readme = read('README.md');
const { scripts, version } = JSON.parse(read('package.json')) as { scripts: Record<string, string>; version: string };

it.each([
  ['to see it run', 'npm ci && npm start', 'start'],
  ['to see it tested', 'npm ci && npm test', 'test'],
])('the README says in its first half, by a line to copy, what to type %s', (_, command, script) => {
  const firstHalf = readme.slice(0, readme.length / 2);
  const lines = [...firstHalf.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) => block!.split('\n'));
  expect(lines.map((line) => line.replace(/ +#.*/, ''))).toContain(command);
  expect(scripts).toHaveProperty(script);
});

it('CI runs the second command as the README prints it', () => {
  const [, command] = read('.ci/run').match(/^command='(.*)'$/m)!;
  expect(command).toBe('npm ci && npm test');
});

it('CONTRIBUTING.md leads to the two commands and does not repeat them', () => {
  const page = read('CONTRIBUTING.md');
  expect(page).toContain('(README.md#see-it-run)');
  expect(page).not.toMatch(/npm ci && npm (start|test)/);
});

it('the README fits into a quarter of an hour', () => {
  expect(readme.split(/\s+/).length).toBeLessThan(2_000);
});

it('the README installs the tarball that npm pack makes of this version', () => {
  expect(readme).toContain(`nestjs-redis-scheduled-queue-${version}.tgz ioredis`);
});

it('the ten options that the README says to begin with are options', () => {
  const page = read('docs/options.md');
  const named = names(page.split('## The first ten\n\n')[1]!.split('\n\n')[0]!);
  expect(named).toContain('timeoutMs');
  const cells = [...page.matchAll(/^\| (`.*?) \| /gm)].map(([, cell]) => cell!);
  const there = new Set(cells.flatMap(names));
  // Beside `cron`, where rules are told.
  expect(named.filter((name) => !there.has(name) && !['timeZone', 'cron'].includes(name))).toEqual([]);
  expect(named.filter((name) => name !== 'cron')).toHaveLength(10);
});

it('each cell of the comparison says something by itself', () => {
  const cells = tableOf('Compared with other packages').slice(1).flat();
  expect(cells).toContain('in BullMQ Pro');
  expect(cells.filter((cell) => cell === '' || /\bwithout$/.test(cell))).toEqual([]);
});

it('the README tells for which concurrency each rate of running jobs holds, and shows in bold where BullMQ is better', () => {
  const rows = tableOf('How fast').slice(1);
  const rates = rows.filter(([what]) => /^due jobs run/.test(what!));
  expect(rates.map(([what]) => what!.match(/concurrency (\d+)/)?.[1])).toEqual(['100', '10', '1']);
  for (const [what, ours, theirs, printed] of rows) {
    const ratio = Number(printed!.replaceAll('*', ''));
    // The ratio is that of the figures before they were rounded.
    expect(ratio / (number(ours!) / number(theirs!))).toBeCloseTo(1, 1);
    const isRate = / a second, (concurrency|one call|[\d ]+ calls)/.test(what!);
    expect({ what, isBold: printed!.startsWith('**') }).toEqual({ what, isBold: isRate ? ratio < 1 : ratio > 1 });
  }
  const text = readme.split('## How fast\n')[1]!.split('\n## ')[0]!;
  expect(text).toMatch(/!\[[^\]]*at concurrency 100[^\]]*\]\(bench\/results\/chart\.svg\)/);
});

it.each([
  ['due jobs run a second, concurrency 10, our default', 'drain', 'rateAt10'],
  ['due jobs run a second, concurrency 1', 'drain', 'rateAt1'],
  ["Redis' processor time a job, 200 jobs of 5 ms a second, one worker", 'steady', 'redisCpu200By1'],
  ['the same, eight workers', 'steady', 'redisCpu200By8'],
  ["the worker's processor time for these, one worker", 'steady', 'nodeCpu200By1'],
  ['jobs scheduled a second, one call under way', 'schedule-one', 'rate'],
  ['jobs scheduled a second, 1 000 calls under way', 'schedule', 'rate'],
  ['lateness of a single job, 99 of 100', 'single', 'p99'],
  ["Redis' memory for a waiting job", 'memory', 'waiting'],
])('the README has of %s what the benchmarks have measured', (title, benchmark, key) => {
  const row = tableOf('How fast').find(([what]) => what === title)!;
  const medians = ['ours', 'bullmq'].map((contestant) => measured(benchmark, key, contestant).median);
  expect(row.slice(1, 3).map(number)).toEqual(medians.map((median) => number(shown(median))));
});

it('the README says no more of a drain at concurrency 100 than the benchmarks have measured', () => {
  const [, , , ratio] = tableOf('How fast').find(([what]) => what!.includes('concurrency 100'))!;
  const least = measured('drain', 'rate', 'ours').min / measured('drain', 'rate', 'bullmq').max;
  expect(Number(ratio)).toBeLessThanOrEqual(least);
});

function read(path: string): string {
  return readFileSync(path, 'utf8');
}

function names(text: string): string[] {
  return [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
}

/** The cells of the first table in a section of the README, without the row of lines. */
function tableOf(title: string): string[][] {
  const section = readme.split(`## ${title}\n`)[1]!.split('\n## ')[0]!;
  const rows = section.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|---'));
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** Of `'86 900'` or `'358 bytes'`. */
function number(cell: string): number {
  return Number(cell.match(/^[\d .]*\d/)![0].replaceAll(' ', ''));
}

/** A figure over the rounds of its benchmark. */
function measured(benchmark: string, figure: string, contestant: string): { median: number; min: number; max: number } {
  const { figures } = JSON.parse(read('bench/results/results.json'))[benchmark];
  return figures.find(({ key }: { key: string }) => key === figure).by[contestant];
}

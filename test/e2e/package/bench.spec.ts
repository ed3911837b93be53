import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Results } from '../../../bench/report/results.js';

let out: string;

beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'scheduled-queue-bench-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

const read = (file: string) => readFileSync(join(out, file), 'utf8');
const results = () => JSON.parse(read('results.json')) as Results;

/** Answers what it prints. */
async function bench(...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const all = ['dist-test/bench/main.js', ...args, '--quick', '--out', out];
  return (await promisify(execFile)(process.execPath, all, { env })).stdout;
}

it('a benchmark of this library and the floor leaves a table, a JSON file and a chart, and needs no other queue', async () => {
  const stdout = await bench('drain', '--cases', '100', '--rounds', '2', '--contestants', 'ours,floor');

  const { drain } = results();
  expect(drain!.problems).toEqual([]);
  expect(drain!.setting).toMatchObject({ quick: true, rounds: 2 });
  const rate = drain!.figures.find(({ key }) => key === 'rate');
  expect(Object.keys(rate!.by)).toEqual(['ours', 'floor']);
  for (const { rounds } of Object.values(rate!.by)) {
    expect(rounds).toHaveLength(2);
    for (const value of rounds) expect(value).toBeGreaterThan(0);
  }
  // Judged over the floor; over BullMQ there is nothing to say.
  const bars = drain!.bars.filter(({ figure }) => figure === 'rate');
  expect(bars.map(({ met }) => typeof met)).toEqual(['undefined', 'boolean']);

  const row =
    /\| Drain due jobs, concurrency 100 \(jobs\/s\) \| [\d ]+ \(.+\) \| N\/A \| N\/A \| [\d ]+ \(.+\) \| N\/A \| [\d.]+ \|/;
  expect(stdout).toMatch(row);
  expect(read('table.md')).toMatch(row);
  expect(read('chart.svg')).toContain('Drain due jobs, concurrency 100, jobs/s');
}, 60_000);

it('what lonely jobs cost is measured by several worker processes, commands inside scripts counted apart', async () => {
  const names = ['schedule-one', 'drain', 'steady', 'groups'];
  await bench(...names, '--cases', 'all,1,200By8,fifo', '--contestants', 'ours');

  const figures = Object.values(results()).flatMap((result) => {
    expect(result.problems).toEqual([]);
    return result.figures.flatMap(({ key, by }) => (by.ours ? [[key, by.ours.median] as const] : []));
  });
  const measured = Object.fromEntries(figures);
  expect(Object.keys(measured)).toEqual([
    ...['rate', 'redisCpu', 'nodeCpu'],
    ...['rateAt1', 'redisCpuAt1', 'nodeCpuAt1'],
    ...['redisCpu', 'nodeCpu', 'calls', 'scripts', 'inside', 'p50at', 'p99at'].map((name) => `${name}200By8`),
    'fifo',
  ]);
  for (const [, value] of figures) expect(value).toBeGreaterThan(0);
  expect(measured.inside200By8).toBeGreaterThan(measured.calls200By8!);
}, 120_000);

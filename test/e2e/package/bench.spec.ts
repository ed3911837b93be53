import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import type { Results } from '../../../bench/report/results.js';

const out = mkdtempSync(join(tmpdir(), 'scheduled-queue-bench-'));

afterEach(() => rmSync(out, { recursive: true, force: true }));

it('a benchmark of this library and the floor leaves a table, a JSON file and a chart, and needs no other queue', async () => {
  const args = [
    'dist-test/bench/main.js',
    'drain',
    '--quick',
    '--rounds',
    '2',
    '--contestants',
    'ours,floor',
    '--out',
    out,
  ];
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });

  const read = (file: string) => readFileSync(join(out, file), 'utf8');
  const { drain } = JSON.parse(read('results.json')) as Results;
  expect(drain!.problems).toEqual([]);
  expect(drain!.setting).toMatchObject({ quick: true, rounds: 2 });
  const [rate] = drain!.figures;
  expect(Object.keys(rate!.by)).toEqual(['ours', 'floor']);
  for (const { rounds } of Object.values(rate!.by)) {
    expect(rounds).toHaveLength(2);
    for (const value of rounds) expect(value).toBeGreaterThan(0);
  }
  // Judged over the floor; over BullMQ there is nothing to say.
  expect(drain!.bars.map(({ met }) => typeof met)).toEqual(['undefined', 'boolean']);

  const row = /\| Drain due jobs \(jobs\/s\) \| [\d ]+ \(.+\) \| N\/A \| N\/A \| [\d ]+ \(.+\) \| N\/A \| [\d.]+ \|/;
  expect(stdout).toMatch(row);
  expect(read('table.md')).toMatch(row);
  expect(read('chart.svg')).toContain('Drain due jobs, jobs/s');
}, 60_000);

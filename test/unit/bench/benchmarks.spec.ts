import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readArguments } from '../../../bench/arguments.js';
import { BENCHMARKS } from '../../../bench/benchmarks/index.js';
import { PEERS } from '../../../bench/contestants/contestant.js';
import { payloadOf, validatedPayload } from '../../../bench/measure/payloads.js';

const names = BENCHMARKS.map(({ name }) => name);

it('benchmarks have names of their own, and bench/README.md has a line for each', () => {
  expect(new Set(names).size).toBe(names.length);
  const rows = [...readFileSync('bench/README.md', 'utf8').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(names);
});

describe.each([...BENCHMARKS])('$name', ({ figures, bars, cases, contestants }) => {
  it('has bars about figures that it measures, of contestants that take part', () => {
    const keys = figures.map(({ key }) => key);
    for (const { figure, over, atLeast, atMost } of bars) {
      expect(keys).toContain(figure);
      if (over && 'figure' in over) expect(keys).toContain(over.figure);
      if (over && 'contestant' in over) expect(contestants).toContain(over.contestant);
      expect([atLeast, atMost].filter((limit) => limit !== undefined)).toHaveLength(1);
    }
  });

  it('has cases for contestants that take part', () => {
    for (const each of cases) expect(contestants).toEqual(expect.arrayContaining([...(each.contestants ?? [])]));
  });

  it('has quick sizes only of what has a size, and none above it', () => {
    for (const { size, quick } of cases) {
      for (const [key, value] of Object.entries(quick)) expect(value).toBeLessThanOrEqual(size[key] ?? Number.NaN);
    }
  });
});

it('a payload is 100 bytes of JSON, whatever stands in it', () => {
  for (const payload of [payloadOf(), payloadOf({ dueAt: 1_795_000_000_000 }), validatedPayload()]) {
    expect(JSON.stringify(payload)).toHaveLength(100);
  }
  expect(() => payloadOf({ long: 'x'.repeat(100) })).toThrow('is longer than 100');
});

it('what others use is no dependency of the package', () => {
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
  const peers = Object.keys(read('bench/package.json').devDependencies!);
  expect(peers.sort()).toEqual([...PEERS].sort());
  const { dependencies, devDependencies, peerDependencies } = read('package.json');
  expect(Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(bullmq|bee-queue|groupmq)$/)]),
  );
});

describe('arguments', () => {
  it('without any, everything is measured of everybody in five rounds', () => {
    const { benchmarks, contestants, rounds, quick, out } = readArguments([]);
    expect(benchmarks.map(({ name }) => name)).toEqual(names);
    expect({ contestants, rounds, quick, out }).toEqual({
      contestants: ['ours', 'bullmq', 'bee-queue', 'groupmq', 'floor'],
      rounds: 5,
      quick: false,
      out: 'bench/results',
    });
  });

  it('a quick run has one round and lies elsewhere', () => {
    expect(readArguments(['--quick'])).toMatchObject({ rounds: 1, out: 'bench/quick' });
    expect(readArguments(['--quick', '--rounds', '3', '--out', 'x'])).toMatchObject({ rounds: 3, out: 'x' });
  });

  it('named benchmarks run once each, in the order of the list', () => {
    const { benchmarks } = readArguments(['drain', 'schedule', 'drain']);
    expect(benchmarks.map(({ name }) => name)).toEqual(['schedule', 'drain']);
  });

  it('some cases of benchmarks are measured alone, and lie beside quick runs: a part would take the place of the whole', () => {
    const { benchmarks, out } = readArguments(['drain', 'steady', 'groups', '--cases', '1,200By8,fifo']);
    expect(benchmarks.map(({ name, cases }) => [name, cases.map((each) => each.name)])).toEqual([
      ['drain', ['1']],
      ['steady', ['200By8']],
      ['groups', ['fifo']],
    ]);
    expect(out).toBe('bench/quick');
    expect(readArguments(['drain', 'groups', '--cases', '1', '--out', 'x'])).toMatchObject({
      benchmarks: [{ name: 'drain' }],
      out: 'x',
    });
  });

  it.each([
    [['drian'], "There is no benchmark 'drian': expected one of schedule, schedule-one, bulk"],
    [['--contestants', 'ours,agenda'], "there is no 'agenda': expected some of ours, bullmq"],
    [['drain', '--cases', '1,1000'], "--cases: there is no '1000': expected some of 1, 10, 100."],
    [['--rounds', '0'], "--rounds: got '0'"],
    [['--rounds', 'many'], "--rounds: got 'many'"],
    [['--fast'], '--fast'],
  ])('%j is refused, saying what is expected', (args, message) => {
    expect(() => readArguments(args)).toThrow(message);
  });
});

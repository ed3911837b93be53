import { describe, expect, it } from '@jest/globals';
import type { Benchmark } from '../../../bench/benchmark.js';
import { judge } from '../../../bench/report/bars.js';
import { toChart } from '../../../bench/report/chart.js';
import { shown } from '../../../bench/report/numbers.js';
import { type BenchmarkResult, type Figures, type Setting, toResult } from '../../../bench/report/results.js';
import { median, percentile, summarise } from '../../../bench/report/statistics.js';
import { sectionOf, toTable } from '../../../bench/report/table.js';

const setting: Setting = {
  at: '2027-01-01T00:00:00.000Z',
  command: 'npm run bench',
  rounds: 3,
  quick: false,
  commit: 'abc',
  machine: '2 × some processor',
  loadBefore: 0.1,
  versions: { node: '24.0.0' },
};

const benchmark = {
  name: 'drain',
  about: 'Jobs run.',
  figures: [{ key: 'rate', title: 'Drain <fast>', unit: 'jobs/s', better: 'more' }],
  bars: [{ figure: 'rate', over: { contestant: 'bullmq' }, atLeast: 4, aim: 5 }],
} as unknown as Benchmark;

/** Three rounds each: medians of 90 000, 20 000 and none. */
function measuredResult(): BenchmarkResult {
  const measured = [
    ...[80_000, 100_000, 90_000].map((rate) => ({ contestant: 'ours' as const, figures: { rate } })),
    ...[20_000, 19_000, 40_000].map((rate) => ({ contestant: 'bullmq' as const, figures: { rate } })),
    // Another case of the same contestant, which has no such figure.
    { contestant: 'ours' as const, figures: { nodeCpu: 1 } },
  ];
  return toResult(benchmark, measured, {
    setting,
    configured: { ours: 'as it comes' },
    problems: ['all, floor: fell'],
  });
}

describe('medians and percentiles', () => {
  it('the median of an even number of rounds lies between the two in the middle', () => {
    expect(median([4, 1, 3])).toBe(3);
    expect(median([10, 1, 2, 4])).toBe(3);
  });

  it('the 99th percentile of a hundred is the second highest, and of few the highest', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 100 - i);
    expect(percentile(hundred, 99)).toBe(99);
    expect(percentile(hundred, 50)).toBe(50);
    expect(percentile([7, 3], 99)).toBe(7);
  });

  it('nothing measured is an error, not NaN', () => {
    expect(() => median([])).toThrow('Nothing was measured');
    expect(() => percentile([], 99)).toThrow('Nothing was measured');
  });
});

describe('bars', () => {
  const of = (value: number) => summarise([value]);
  const figures: Figures = {
    rate: { ours: of(100), bullmq: of(20), floor: of(200) },
    rateOf2: { ours: of(90) },
    late: { ours: of(5) },
  };

  it.each([
    [{ figure: 'rate', over: { contestant: 'bullmq' as const }, atLeast: 4, aim: 5 }, 5, true, true],
    [{ figure: 'rate', over: { contestant: 'floor' as const }, atLeast: 0.5, aim: 0.65 }, 0.5, true, false],
    [{ figure: 'rateOf2', over: { figure: 'rate' }, atLeast: 1 }, 0.9, false, undefined],
    [{ figure: 'late', atMost: 5 }, 5, true, undefined],
    [{ figure: 'late', atMost: 4.9, aim: 1 }, 5, false, false],
  ])('%j', (bar, value, met, aimMet) => {
    expect(judge(bar, figures)).toMatchObject({ value, met });
    expect(judge(bar, figures).aimMet).toBe(aimMet);
  });

  it('a bar over another figure of this library is the median of the ratios of each round', () => {
    const slowing: Figures = {
      tracked: { ours: summarise([96, 50, 98]) },
      untracked: { ours: summarise([100, 50, 70]) },
    };
    const verdict = judge({ figure: 'tracked', over: { figure: 'untracked' }, atLeast: 0.97 }, slowing);
    expect(verdict).toMatchObject({ value: 1, met: true });
  });

  it('a bar over somebody who was not measured is neither met nor not met', () => {
    const verdict = judge({ figure: 'rate', over: { contestant: 'bee-queue' }, atLeast: 1 }, figures);
    expect(verdict).toEqual({ says: 'rate ≥ 1 × bee-queue' });
  });
});

it.each([
  [164_235, '164 000'],
  [1_234_567, '1 230 000'],
  [99.96, '100'],
  [23, '23'],
  [3.7049, '3.7'],
  [0.649, '0.65'],
  [0, '0'],
  [-0.001, '0'],
])('%d is shown as %s', (value, text) => {
  expect(shown(value)).toBe(text);
});

it('a result has medians, extremes and every round, by contestant', () => {
  expect(measuredResult().figures[0]!.by).toEqual({
    ours: { median: 90_000, min: 80_000, max: 100_000, rounds: [80_000, 100_000, 90_000] },
    bullmq: { median: 20_000, min: 19_000, max: 40_000, rounds: [20_000, 19_000, 40_000] },
  });
});

it('a table has a row a figure with ratios of medians, N/A for who was not measured, the bars and the problems', () => {
  const section = sectionOf('drain', measuredResult());
  expect(section).toContain(
    '| Drain <fast> (jobs/s) | 90 000 (80 000–100 000) | 20 000 (19 000–40 000) | N/A | N/A | 4.5 | N/A |',
  );
  expect(section).toContain('- rate ≥ 4 (aim 5) × BullMQ: 4.5, **met**, not the aim');
  expect(section).toContain('- **Not measured:** all, floor: fell');
});

it('groupmq has a column only where it was measured', () => {
  const inOrder = toResult(
    { ...benchmark, bars: [] },
    [
      { contestant: 'ours', figures: { rate: 12 } },
      { contestant: 'groupmq', figures: { rate: 10 } },
    ],
    { setting, configured: {}, problems: [] },
  );
  const columns = '| this library | BullMQ | bee-queue | groupmq | floor |';
  expect(sectionOf('groups', inOrder)).toContain(columns);
  expect(sectionOf('groups', inOrder)).toContain('| 12 | N/A | N/A | 10 | N/A |');
  expect(sectionOf('drain', measuredResult())).not.toContain('groupmq');
});

it('what was measured in one run is described once, with the loads it found', () => {
  const result = measuredResult();
  const busier = { ...result, setting: { ...setting, at: '2027-01-01T01:00:00.000Z', loadBefore: 2.5 } };
  const table = toTable({ drain: result, bulk: busier });
  expect(table.match(/some processor/g)).toHaveLength(1);
  expect(table).toContain('- drain, bulk: 2027-01-01, commit abc');
  expect(table).toContain('load average before 0.1 to 2.5');
});

it('the chart has a bar for each contestant that was measured, as long as its median says', () => {
  const chart = toChart({ drain: measuredResult() });
  expect(chart).toContain('Drain &lt;fast&gt;, jobs/s');
  expect([...chart.matchAll(/<rect x="84" y="\d+" width="([\d.]+)"/g)].map(([, width]) => width)).toEqual([
    '140.0',
    '31.1',
  ]);
  expect(chart).toContain('>90 000</text>');
  expect(chart).not.toContain('NaN');
});

it('a chart of nothing but zeroes, or of nothing, is still a picture', () => {
  const zero = toResult(benchmark, [{ contestant: 'ours', figures: { rate: 0 } }], {
    setting,
    configured: {},
    problems: [],
  });
  for (const chart of [toChart({ drain: zero }), toChart({})]) {
    expect(chart).toMatch(/^<svg .*<\/svg>\n$/s);
    expect(chart).not.toMatch(/NaN|Infinity/);
  }
});

import { existsSync, readFileSync } from 'node:fs';
import type { Bar, Benchmark, Figure } from '../benchmark.js';
import type { ContestantName } from '../contestants/contestant.js';
import { judge, type Verdict } from './bars.js';
import { type Summary, summarise } from './statistics.js';

/** Where, when and with what something was measured. */
export interface Setting {
  at: string;
  command: string;
  rounds: number;
  /** Sizes at which figures mean nothing. */
  quick: boolean;
  commit: string;
  machine: string;
  /** The load average of a minute, before. */
  loadBefore: number;
  versions: Record<string, string>;
}

/** Figures by their key, and in these by contestant. */
export type Figures = Record<string, Partial<Record<ContestantName, Summary>>>;

export interface BenchmarkResult {
  setting: Setting;
  about: string;
  configured: Partial<Record<ContestantName, string>>;
  /** What could not be measured, and why. */
  problems: string[];
  figures: (Figure & { by: Partial<Record<ContestantName, Summary>> })[];
  bars: (Bar & Verdict)[];
}

/** What the JSON file holds, by benchmark. */
export type Results = Record<string, BenchmarkResult>;

/** One round of one contestant, all its cases together. */
export interface Measured {
  contestant: ContestantName;
  figures: Record<string, number>;
}

export function toResult(
  benchmark: Benchmark,
  measured: readonly Measured[],
  rest: Pick<BenchmarkResult, 'setting' | 'configured' | 'problems'>,
): BenchmarkResult {
  const figures = benchmark.figures.map((figure) => ({ ...figure, by: byContestant(measured, figure.key) }));
  const byKey: Figures = Object.fromEntries(figures.map(({ key, by }) => [key, by]));
  return {
    ...rest,
    about: benchmark.about,
    figures,
    bars: benchmark.bars.map((bar) => ({ ...bar, ...judge(bar, byKey) })),
  };
}

function byContestant(measured: readonly Measured[], key: string): Partial<Record<ContestantName, Summary>> {
  const values = new Map<ContestantName, number[]>();
  for (const { contestant, figures } of measured) {
    if (figures[key] === undefined) continue;
    values.set(contestant, [...(values.get(contestant) ?? []), figures[key]]);
  }
  return Object.fromEntries([...values].map(([contestant, rounds]) => [contestant, summarise(rounds)]));
}

/** What earlier runs have left in the file. */
export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {};
}

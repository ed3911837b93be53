import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.js';
import { BENCHMARKS, benchmarkNamed } from './benchmarks/index.js';
import { CONTESTANTS, type ContestantName } from './contestants/contestant.js';

export const USAGE = `npm run bench [-- names… --cases some,of,them --rounds 5 --quick --contestants ${CONTESTANTS.join(',')} --out folder]`;

export interface Arguments {
  /** Each with those of its cases that are asked for. */
  benchmarks: readonly Benchmark[];
  contestants: readonly ContestantName[];
  rounds: number;
  /** Small sizes, to see whether everything works: the figures mean nothing. */
  quick: boolean;
  /** The folder of results. */
  out: string;
}

/** Throws for whatever it cannot use, naming it. */
export function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      cases: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      contestants: { type: 'string', default: CONTESTANTS.join(',') },
      out: { type: 'string' },
    },
  });
  const wanted = positionals.map(benchmarkNamed);
  // Each once, in the order of the list.
  const benchmarks = wanted.length === 0 ? BENCHMARKS : BENCHMARKS.filter((benchmark) => wanted.includes(benchmark));
  return {
    benchmarks: values.cases === undefined ? benchmarks : withCases(benchmarks, values.cases.split(',')),
    contestants: readContestants(values.contestants),
    rounds: readRounds(values.rounds ?? (values.quick ? '1' : '5')),
    quick: values.quick,
    // A quick run never lies where figures that mean something do, and a part never takes the place of the whole.
    out: values.out ?? (values.quick || values.cases !== undefined ? 'bench/quick' : 'bench/results'),
  };
}

/** A case that several benchmarks have is measured of each; those that have none of the cases are left out. */
function withCases(benchmarks: readonly Benchmark[], names: readonly string[]): Benchmark[] {
  const there = new Set(benchmarks.flatMap(({ cases }) => cases.map(({ name }) => name)));
  const unknown = names.find((name) => !there.has(name));
  if (unknown !== undefined) {
    throw new Error(`--cases: there is no '${unknown}': expected some of ${[...there].join(', ')}.`);
  }
  return benchmarks
    .map((benchmark) => ({ ...benchmark, cases: benchmark.cases.filter(({ name }) => names.includes(name)) }))
    .filter(({ cases }) => cases.length > 0);
}

function readContestants(text: string): ContestantName[] {
  const names = text.split(',');
  const unknown = names.find((name) => !(CONTESTANTS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new Error(`--contestants: there is no '${unknown}': expected some of ${CONTESTANTS.join(', ')}.`);
  }
  return CONTESTANTS.filter((name) => names.includes(name));
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) {
    throw new Error(`--rounds: got '${text}': expected a whole number of at least 1.`);
  }
  return rounds;
}

import { parseArgs } from 'node:util';
import type { Benchmark } from './benchmark.js';
import { BENCHMARKS, benchmarkNamed } from './benchmarks/index.js';
import { CONTESTANTS, type ContestantName } from './contestants/contestant.js';

export const USAGE = `npm run bench [-- names… --rounds 5 --quick --contestants ${CONTESTANTS.join(',')} --out folder]`;

export interface Arguments {
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
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      contestants: { type: 'string', default: CONTESTANTS.join(',') },
      out: { type: 'string' },
    },
  });
  return {
    // Each once, in the order of the list.
    benchmarks:
      positionals.length === 0
        ? BENCHMARKS
        : ((wanted) => BENCHMARKS.filter((benchmark) => wanted.includes(benchmark)))(positionals.map(benchmarkNamed)),
    contestants: readContestants(values.contestants),
    rounds: readRounds(values.rounds ?? (values.quick ? '1' : '5')),
    quick: values.quick,
    // A quick run never lies where figures that mean something do.
    out: values.out ?? (values.quick ? 'bench/quick' : 'bench/results'),
  };
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

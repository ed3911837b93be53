import type { Contestant, ContestantName, OpenOptions, Session } from './contestants/contestant.js';
import type { RedisProbe } from './measure/redis-probe.js';

/** One benchmark: what is measured of whom, and what this library has to reach. */
export interface Benchmark {
  name: string;
  /** What happens, in a sentence, for the reader of the figures. */
  about: string;
  contestants: readonly ContestantName[];
  /** Each runs in a process and on a Redis of its own, in every round. */
  cases: readonly Case[];
  figures: readonly Figure[];
  bars: readonly Bar[];
  /** What one case of one contestant may take before it is given up. */
  timeoutMs: number;
  /** In the child process. Answers figures by their key; those that a contestant cannot have are left out. */
  run(context: Context): Promise<Record<string, number>>;
}

export interface Case {
  name: string;
  /** Sizes: how many jobs, workers, seconds. `quick` has those that differ where only the machinery is tried out. */
  size: Readonly<Record<string, number>>;
  quick: Readonly<Record<string, number>>;
  /** Those of the benchmark's contestants that this case is for; left out: all. */
  contestants?: readonly ContestantName[];
  /** Options of Node for its process. */
  nodeOptions?: readonly string[];
  /** Redis has the first core to itself, and its process the others. Only where `taskset` is. */
  isTied?: boolean;
}

export interface Figure {
  key: string;
  title: string;
  unit: string;
  better: 'more' | 'less';
}

/** What this library's figure has to be, alone or in relation to another one of the same run. */
export interface Bar {
  figure: string;
  /** Divided by the same figure of that contestant, or by another figure of this library. */
  over?: { contestant: ContestantName } | { figure: string };
  atLeast?: number;
  atMost?: number;
  /** What is aimed at beyond what has to be reached. */
  aim?: number;
}

/** What a benchmark is given in its process. */
export interface Context {
  case: string;
  name: ContestantName;
  contestant: Contestant;
  redis: string;
  probe: RedisProbe;
  size: (key: string) => number;
  /** A session of the contestant on this run's Redis. */
  open(options: Omit<OpenOptions, 'redis'>): Promise<Session>;
}

import { type Backoff, type BackoffFunction, type BackoffOptions, backoffOrFunctionCheck } from '../job/backoff.js';
import { JOB_SETTINGS_SHAPE } from '../job/definition.js';
import type { Duration } from '../read/duration.js';
import { duration, integer, isRecord, options, type Refuse, type Shape } from '../read/shape.js';
import { BATCH_SHAPE, type BatchOptions, type BatchSettings } from './batch-options.js';
import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUT_MS, MOST_JOBS_A_TURN } from './defaults.js';

/**
 * How jobs run: options of a handler and of the module's `jobs`. The call to `schedule` overrides the module's `jobs`, these override
 * the handler, and this overrides its definition. `batch`, `concurrency` and `weight` cannot be given in calls and definitions.
 */
export interface RunOptions {
  /** How many times a job may run, including the first time: 1 to 1 000. Default 6. */
  maxAttempts?: number;
  /** How long a failed job waits, or a function that decides it. Default: exponential from 60 s. */
  backoff?: BackoffOptions | BackoffFunction;
  /**
   * How long one run may take. After that its signal aborts and the attempt has failed. With `batch` the time of each job begins with the
   * call. 0: no limit. Default 1 800 000, half an hour.
   */
  timeoutMs?: Duration;
  /**
   * How many jobs of this handler may run at once in this process; with `batch`, how many calls. Further ones wait, and delay no jobs of
   * other names. 1 to 1 000. Default: the queue's `concurrency`.
   */
  concurrency?: number;
  /**
   * How much of the queue's `concurrency` one run takes; with `batch`, one call. A heavy job whose turn has come waits for room, and no lighter job goes first,
   * so that light jobs cannot starve heavy ones. Default 1.
   */
  weight?: number;
  /**
   * Calls the handler with many jobs at once. The module's `jobs` may change `size` or `waitMs` of a handler that has it, and cannot give or
   * take it away. Default: one job a call.
   */
  batch?: BatchOptions;
}

/** Run options that have been read. */
export interface RunSettings {
  maxAttempts: number;
  backoff: Backoff | BackoffFunction;
  /** 0 for none. */
  timeoutMs: number;
  /** Infinite for as many as the queue lets. */
  concurrency: number;
  weight: number;
  /** Missing for a handler that gets one job a call. */
  batch?: BatchSettings;
}

/** What one of several says of the settings of a handler. */
export type SaidSettings = Partial<Omit<RunSettings, 'batch'>> & { batch?: Partial<BatchSettings> };

export const RUN_OPTIONS_SHAPE: Shape<SaidSettings> = {
  maxAttempts: integer(1, 1_000),
  backoff: backoffOrFunctionCheck,
  timeoutMs: duration(),
  concurrency: integer(1, MOST_JOBS_A_TURN),
  weight: integer(1, MOST_JOBS_A_TURN),
  batch: options(BATCH_SHAPE),
};

/** Options that are decided when a job is scheduled, before its handler is known. A handler cannot set them. */
const OF_THE_JOB = [...Object.keys(JOB_SETTINGS_SHAPE), 'group'].filter(
  (name) => !Object.hasOwn(RUN_OPTIONS_SHAPE, name),
);

/** Options that whoever schedules and whoever handles must share. */
const OF_THE_DEFINITION = ['version', 'upgrade'];

/** Refuses options of jobs among those of runs, and says where they belong. */
export function refuseJobOptions(given: unknown, where: string, refuse: Refuse): void {
  for (const name of isRecord(given) ? Object.keys(given) : []) {
    if (OF_THE_JOB.includes(name))
      throw refuse(`${where}: unknown option "${name}": give it to the definition or the call.`);
    if (OF_THE_DEFINITION.includes(name))
      throw refuse(`${where}: unknown option "${name}": give it to the definition.`);
  }
}

/** The settings of a handler: what each says wins over those after it, and what none says has its default. */
export function resolveRunSettings(...said: (SaidSettings | undefined)[]): RunSettings {
  const first = <K extends keyof SaidSettings>(name: K) => said.find((one) => one?.[name] !== undefined)?.[name];
  const batch = Object.assign({}, ...said.map((one) => one?.batch).reverse()) as Partial<BatchSettings>;
  return {
    maxAttempts: first('maxAttempts') ?? DEFAULT_MAX_ATTEMPTS,
    backoff: first('backoff') ?? DEFAULT_BACKOFF,
    timeoutMs: first('timeoutMs') ?? DEFAULT_TIMEOUT_MS,
    concurrency: first('concurrency') ?? Number.POSITIVE_INFINITY,
    weight: first('weight') ?? 1,
    ...(batch.size !== undefined && { batch: { size: batch.size, waitMs: batch.waitMs ?? 0 } }),
  };
}

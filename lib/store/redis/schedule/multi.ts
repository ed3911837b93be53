import { type InvalidScheduleError, invalidSchedule } from '../../../core/errors.js';
import { describe } from '../../../core/read/describe.js';
import { type Client, databaseOf } from '../link/client.js';
import type { ScriptArgument } from '../scripts/bound-script.js';

/** What `redis.multi()` answers, as ioredis 5.4 to 6 make it. */
export interface Multi {
  readonly options: { readonly keyPrefix?: string };
  readonly redis: Client;
  /** How many MULTIs are open; 0 of a pipeline, and once `exec` has been called. */
  readonly _transactions: number;
  /** What was appended so far. */
  readonly _queue: readonly { readonly name: string; readonly args: unknown[] }[];
  /** Settled once all replies have come, before that of `exec`. */
  readonly promise: Promise<unknown>;
  /** Set by `exec`. */
  readonly nodeifiedPromise?: boolean;
  eval(script: string, keys: number, ...rest: ScriptArgument[]): unknown;
}

/** Which Redis holds the queues. */
export interface Home {
  readonly clustered: boolean;
  readonly database: number;
}

/** Commands after which the next one runs outside of the MULTI, or elsewhere. */
const LEAVING = new Set(['discard', 'reset', 'select', 'swapdb']);

/** Answers `given` as a MULTI to which jobs can be appended now. Throws `InvalidScheduleError` where it is none, is over, or is not of `home`. */
export function requireMulti(given: unknown, home: Home): Multi {
  if (!isPipeline(given))
    throw refused(`got ${describe(given)}`, 'what redis.multi() of an ioredis client answers, before its exec()');
  if (!(given._transactions > 0))
    throw given.nodeifiedPromise
      ? refused('exec() of this MULTI has been called', 'each call for a job to be awaited before exec()')
      : refused('got a pipeline', 'what redis.multi() answers: commands of a pipeline run one by one');
  const leaving = given._queue.find(({ name }) => LEAVING.has(name.toLowerCase()));
  if (leaving) throw refused(`got a MULTI with ${leaving.name.toUpperCase()} in it`, 'one without it');
  const { keyPrefix } = given.options;
  if (keyPrefix)
    throw refused(
      `got a MULTI of a client with keyPrefix ${describe(keyPrefix)}`,
      'a client without one: ioredis would put it before the keys of the queue',
    );
  const isClustered = given.redis.isCluster === true;
  if (isClustered !== home.clustered)
    throw refused(
      `got a MULTI of a client of ${kindOf(isClustered)}`,
      `a client of ${kindOf(home.clustered)}, where the jobs lie`,
    );
  const database = databaseOf(given.redis);
  if (database !== home.database)
    throw refused(`got a MULTI in database ${database}`, `one in database ${home.database}, where the jobs lie`);
  return given;
}

/** By its fields, never by `instanceof`: the application may hold another copy of ioredis. */
function isPipeline(given: unknown): given is Multi {
  if (typeof given !== 'object' || given === null || !('isPipeline' in given)) return false;
  const { _transactions, _queue, redis, options } = given as Partial<Multi>;
  return typeof _transactions === 'number' && Array.isArray(_queue) && Boolean(redis && options);
}

function kindOf(isClustered: boolean): string {
  return isClustered ? 'a cluster' : 'a single Redis';
}

function refused(got: string, expected: string): InvalidScheduleError {
  return invalidSchedule(`in: ${got}, expected ${expected}.`);
}

import { invalidOptions as refuse } from '../errors.js';
import { jobNames, keyPart, redisKey } from '../read/names.js';
import { type Check, integer, options, readOptions, type Shape } from '../read/shape.js';
import { MOST_JOBS_A_TURN } from './defaults.js';
import { DEFAULT_QUEUE } from './queue-options.js';

/** The options of `relay`. */
export interface RelayOptions {
  /** The queue to take jobs from. Default `'default'`. */
  queue?: string;
  /**
   * Move only jobs of these names, 1 to 1 000. Default: all names, also future ones. Every `schedule` takes about 4 µs longer in Redis
   * for each different set of names that is relayed.
   */
  names?: readonly string[];
  /**
   * The key of the stream or list to which the jobs go. It need not exist. On a cluster it needs the queue's hash tag; `relayKey`
   * makes such a key.
   */
  to: { stream: string } | { list: string };
  /** How many jobs to move in one step at most, 1 to 1 000. Default 100. */
  batch?: number;
  /** About how many entries the stream keeps (`MAXLEN ~`); older ones are deleted, read or not. At least 1. Default: all. */
  maxLength?: number;
}

/** A relay that is running. */
export interface ScheduledQueueRelay {
  /**
   * Stops the relay. Resolves when Redis has answered the step that was under way, or after `commandTimeoutMs`; then that step may still
   * happen, completely or not at all.
   */
  stop(): Promise<void>;
}

/** Where a relay puts jobs. */
export interface RelayTarget {
  type: 'stream' | 'list';
  key: string;
  /** Of a stream. */
  maxLength?: number;
}

/** A call to `relay` that has been read. */
export interface RelayRequest {
  queue: string;
  /** Sorted, each once; `undefined` for every name. */
  names?: readonly string[];
  target: RelayTarget;
  batch: number;
}

const DEFAULT_BATCH = 100;

const PLACES = '{ stream: key } or { list: key }';

const places = options<{ stream: string; list: string }>({ stream: redisKey, list: redisKey }, PLACES);

const to: Check<RelayTarget> = (value) => {
  const read = places(value);
  if ('problem' in read) return read;
  const { stream, list } = read.value;
  if (stream !== undefined && list === undefined) return { value: { type: 'stream', key: stream } };
  if (list !== undefined && stream === undefined) return { value: { type: 'list', key: list } };
  return { problem: `got ${list === undefined ? 'neither' : 'both'}, expected ${PLACES}` };
};

const SHAPE: Shape<{ queue: string; names: readonly string[]; to: RelayTarget; batch: number; maxLength: number }> = {
  queue: keyPart,
  names: jobNames,
  to,
  batch: integer(1, MOST_JOBS_A_TURN),
  maxLength: integer(1),
};

/** Reads a call to `relay`. Throws `InvalidOptionsError`. */
export function readRelay(given: unknown): RelayRequest {
  const { queue, names, to, batch, maxLength } = readOptions(given, SHAPE, 'relay', refuse);
  if (to === undefined) throw refuse(`relay: to: got none, expected ${PLACES}.`);
  if (maxLength !== undefined && to.type === 'list')
    throw refuse(
      `relay: maxLength: got ${maxLength} for a list, expected it for a stream only: what a list holds is yet to be done.`,
    );
  return {
    queue: queue ?? DEFAULT_QUEUE,
    names,
    target: { ...to, ...(maxLength !== undefined && { maxLength }) },
    batch: batch ?? DEFAULT_BATCH,
  };
}

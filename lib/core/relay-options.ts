import { InvalidOptionsError } from './errors.js';
import { jobNames, keyPart, redisKey } from './names.js';
import { DEFAULT_QUEUE } from './queue-options.js';
import { type Check, integer, options, readOptions, type Shape } from './shape.js';

export interface RelayOptions {
  /** The queue to take jobs from. Default `'default'`. */
  queue?: string;
  /**
   * Only jobs of these names, 1 to 1 000. Default: jobs of every name, also of names that are first used later. Every schedule takes
   * about 4 µs longer in Redis for each different set of names that is relayed.
   */
  names?: readonly string[];
  /**
   * The key of the stream or of the list that the jobs go to; it is made where there is none. On a cluster it carries the queue's
   * hash tag, as one made by `relayKey` does.
   */
  to: { stream: string } | { list: string };
  /** The most jobs to move in one step, 1 to 1 000. Default 100. */
  batch?: number;
  /** About how many entries the stream keeps, read or not: older ones go (`MAXLEN ~`). At least 1. Default: all. */
  maxLength?: number;
}

/** A relay that is under way. */
export interface ScheduledQueueRelay {
  /**
   * Moves no more. Resolves once Redis has answered the step that was under way, or has not within `commandTimeoutMs`: that step
   * may then happen still, whole or not at all.
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
/** As many as one claim takes. */
const LARGEST_BATCH = 1_000;

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
  batch: integer(1, LARGEST_BATCH),
  maxLength: integer(1),
};

/** Reads a call to `relay`. Throws `InvalidOptionsError`. */
export function readRelay(given: unknown): RelayRequest {
  const refuse = (message: string) => new InvalidOptionsError(message);
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

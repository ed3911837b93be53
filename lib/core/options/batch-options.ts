import type { Duration } from '../read/duration.js';
import { duration, integer, options, type Refuse, readOne, type Shape } from '../read/shape.js';

/** How many jobs of its name a handler gets in one call. See docs/batches.md. */
export interface BatchOptions {
  /** The most jobs of one call: 2 to 500. The handler is called as soon as so many are there and a place is free. */
  size: number;
  /**
   * How long a job waits for others, counted from its claim, before the handler is called with fewer. It takes no place meanwhile. 0: the
   * handler is called with whatever one claim brought. At most 60 000. Default 0.
   */
  waitMs?: Duration;
}

/** Batch options that have been read. */
export interface BatchSettings {
  size: number;
  waitMs: number;
}

export const BATCH_SHAPE: Shape<BatchSettings> = { size: integer(2, 500), waitMs: duration(0, 60_000) };

/** Reads the option `batch` of a handler, which has to say its `size`. */
export function readBatch(given: unknown, where: string, refuse: Refuse): BatchSettings {
  const { size, waitMs = 0 } = readOne(options(BATCH_SHAPE), given, `${where}: batch`, refuse);
  return { size: readOne(BATCH_SHAPE.size, size, `${where}: batch: size`, refuse), waitMs };
}

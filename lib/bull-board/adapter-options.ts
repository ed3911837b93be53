import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import type { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { invalidOptions } from '../core/errors.js';
import { describe } from '../core/read/describe.js';
import { keyPart } from '../core/read/names.js';
import { anything, type Check, flag, readOne, readOptions, type Shape } from '../core/read/shape.js';

/** Options of bull-board's own adapters. */
type OfBoard = Pick<
  QueueAdapterOptions,
  | 'readOnlyMode'
  | 'allowRetries'
  | 'prefix'
  | 'description'
  | 'displayName'
  | 'delimiter'
  | 'externalJobUrl'
  | 'jobDataSchema'
>;

/** The queue, who changes it, and the options that bull-board's own adapters take, such as `readOnlyMode`. */
export interface ScheduledQueueAdapterOptions extends Partial<OfBoard> {
  /** The queue that is shown; it has no default. */
  queue: string;
  /**
   * Promotes and adds jobs, gives delayed jobs a new time, and knows the recurrences. Without it the board refuses these actions, and lists
   * no schedulers.
   */
  producer?: ScheduledQueueProducer;
}

const SHAPE: Shape<ScheduledQueueAdapterOptions> = {
  queue: keyPart,
  producer: partWith<ScheduledQueueProducer>('schedule', 'ScheduledQueueProducer'),
  // A word in place of `true` would leave the board writable.
  readOnlyMode: flag,
  allowRetries: flag,
  prefix: anything as Check<string>,
  description: anything as Check<string>,
  displayName: anything as Check<string>,
  delimiter: anything as Check<string>,
  externalJobUrl: anything as Check<NonNullable<OfBoard['externalJobUrl']>>,
  jobDataSchema: anything as Check<NonNullable<OfBoard['jobDataSchema']>>,
};

const WHERE = 'ScheduledQueueAdapter';

/** Throws `InvalidOptionsError`. */
export function readAdapterOptions(inspector: unknown, given: unknown): ScheduledQueueAdapterOptions {
  readOne(
    partWith<ScheduledQueueInspector>('countsByPriority', 'ScheduledQueueInspector'),
    inspector,
    `${WHERE}: inspector`,
    invalidOptions,
  );
  const { queue, ...options } = readOptions(given, SHAPE, WHERE, invalidOptions);
  if (queue === undefined)
    throw invalidOptions(`${WHERE}: queue: got undefined, expected the name of the queue that is shown.`);
  return { queue, ...options };
}

/** By a method: it may be of another copy of this package. */
function partWith<Part>(method: string, name: string): Check<Part> {
  return (value) =>
    typeof (value as Record<string, unknown> | undefined | null)?.[method] === 'function'
      ? { value: value as Part }
      : { problem: `got ${describe(value)}, expected the ${name} of the application` };
}

import type { Attributes } from '@opentelemetry/api';
import type { SentJob } from '../core/observe/tracer.js';

// The conventions for messaging are still in development (1.45), so their names stand here and are not imported: an application may have
// another version of them.

/** The operation that a span is of. */
export type Operation = 'send' | 'process' | 'receive';

export const MESSAGE_ID = 'messaging.message.id';
export const ERROR_TYPE = 'error.type';
/** What the system was called before, for applications that ask for both names. */
const OLD_SYSTEM_NAME = 'messaging.system';

const SYSTEM = 'scheduled_queue';
/** The type of an error that is a thrown value and no error. */
export const OTHER_ERROR = '_OTHER';

/**
 * What a span says of its jobs, at least one; `attempt`: of a run. Names are written out where they are used: with names from constants
 * the objects take five times as long, and every run has one.
 */
export function attributesOf(
  queue: string,
  operation: Operation,
  jobs: readonly SentJob[],
  oldNames: boolean,
  attempt?: number,
): Attributes {
  const attributes = jobs.length > 1 ? ofMany(queue, operation, jobs) : ofOne(queue, operation, jobs[0]!, attempt);
  if (oldNames) attributes[OLD_SYSTEM_NAME] = SYSTEM;
  return attributes;
}

/** An attribute that is `undefined` is none. */
function ofOne(queue: string, operation: Operation, { id, name }: SentJob, attempt: number | undefined): Attributes {
  return {
    'messaging.system.name': SYSTEM,
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.message.id': id,
    'scheduled_queue.job.name': name,
    'scheduled_queue.job.attempt': attempt,
  };
}

function ofMany(queue: string, operation: Operation, { length }: readonly SentJob[]): Attributes {
  return {
    'messaging.system.name': SYSTEM,
    'messaging.destination.name': queue,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.batch.message_count': length,
  };
}

/** Whether the application asks for the old names of the conventions for messaging beside the new ones. */
export function wantsOldNames(environment: NodeJS.ProcessEnv): boolean {
  const asked = environment.OTEL_SEMCONV_STABILITY_OPT_IN ?? '';
  return asked.split(',').some((name) => name.trim() === 'messaging/dup');
}

// The conventions for messaging are still in development (1.45), so their names stand here and are not imported: an application may have
// another version of them.

export const SYSTEM_NAME = 'messaging.system.name';
/** What `SYSTEM_NAME` was called before; for applications that ask for both. */
export const OLD_SYSTEM_NAME = 'messaging.system';
export const DESTINATION_NAME = 'messaging.destination.name';
export const OPERATION_NAME = 'messaging.operation.name';
export const OPERATION_TYPE = 'messaging.operation.type';
export const MESSAGE_ID = 'messaging.message.id';
export const MESSAGE_COUNT = 'messaging.batch.message_count';
export const ERROR_TYPE = 'error.type';
export const JOB_NAME = 'scheduled_queue.job.name';
export const JOB_ATTEMPT = 'scheduled_queue.job.attempt';

/** The value of `SYSTEM_NAME`. */
export const SYSTEM = 'scheduled_queue';
/** The value of `ERROR_TYPE` for a thrown value that is no error. */
export const OTHER_ERROR = '_OTHER';

/** Whether the application asks for the old names of the conventions for messaging beside the new ones. */
export function wantsOldNames(environment: NodeJS.ProcessEnv): boolean {
  const asked = environment.OTEL_SEMCONV_STABILITY_OPT_IN ?? '';
  return asked.split(',').some((name) => name.trim() === 'messaging/dup');
}

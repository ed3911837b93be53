import 'reflect-metadata';
import { InvalidOptionsError, invalidOptions } from '../../core/errors.js';
import { CIRCULAR_IMPORT, readDefinition, type ScheduledJobDefinition } from '../../core/job/definition.js';
import type { ScheduledJob } from '../../core/job/scheduled-job.js';
import { type BatchOptions, readBatch } from '../../core/options/batch-options.js';
import {
  RUN_OPTIONS_SHAPE,
  type RunOptions,
  refuseJobOptions,
  type SaidSettings,
} from '../../core/options/run-settings.js';
import type { PayloadClass } from '../../core/payload/payload-class.js';
import type { PayloadForm, PayloadOf, ReceivedPayload } from '../../core/payload/payload-types.js';
import { jobName, keyPart } from '../../core/read/names.js';
import { anything, classReference, readOne, readOptions } from '../../core/read/shape.js';
import { DEFAULT_INSTANCE } from '../tokens.js';
import { addMark, methodOf, placeOf } from './marked-method.js';
import {
  type DeclaredRecurrenceOptions,
  RECURRENCE_SHAPE,
  type RecurrenceMark,
  type RecurrencePayloadFor,
  splitRecurrence,
} from './recurrence-options.js';

/** The options of `@OnScheduledJob`. */
export interface HandlerOptions<Payload = unknown> extends RunOptions, DeclaredRecurrenceOptions<Payload> {
  /** The queue. Default: the definition's, else `'default'`. */
  queue?: string;
  /** The `name` of the module's instance that runs this handler. Default: the instance without a name. */
  instance?: string;
  /**
   * The class of the payload, for a job named by a string or by a definition without a class. The handler gets an instance of it. A
   * payload that does not fit makes the job dead, with the reason `invalid-payload`; `schedule` does not know the class and refuses
   * nothing. Throws `InvalidOptionsError` beside a definition that has a class of its own. Default: the definition's class.
   */
  payload?: PayloadClass;
}

/** What `@OnScheduledJob` leaves on a method. */
export interface HandlerMark {
  name: string;
  instance: string;
  queue?: string;
  /** The definition's class, or that of the decorator's options. */
  payload?: PayloadClass;
  /** Missing where the job was named by a string. */
  definition?: ScheduledJobDefinition;
  /** What it says of a recurrence, where it says anything. */
  recurrence?: RecurrenceMark;
  /** What the decorator says, and what the definition. */
  own: SaidSettings;
  defined?: SaidSettings;
}

/** Fixed strings rather than symbols: both builds of this package must find each other's marks. */
export const HANDLER_METADATA = 'nestjs-redis-scheduled-queue:handlers';
export const PARAMS_METADATA = 'nestjs-redis-scheduled-queue:params';

/** What Nest calls a parameter that its built-in pipes validate and one that they leave alone. */
export const PAYLOAD_PARAM = 3;
export const JOB_PARAM = 100;

// biome-ignore lint/suspicious/noExplicitAny: a name says nothing of the payload's type
type AnyHandler = (payload: any, job: ScheduledJob<any>) => unknown;
// biome-ignore lint/suspicious/noExplicitAny: nor of the payloads of many jobs
type AnyBatchHandler = (payloads: any[], jobs: ScheduledJob<any>[]) => unknown;
// A method without parameters, or with the payload alone, fits as well.
type HandlerDecorator<Handler> = <Method extends Handler>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/**
 * With `batch` the method is called with many jobs at once, and gets `(payloads, jobs)`: two lists in the order in which the jobs were
 * claimed. If it returns, all are completed; a `JobOutcome` holds for each, and `JobOutcome.each` settles one by one. If it throws, the
 * attempt of each has failed. A payload that is invalid, or at which a pipe throws, takes its job out of both lists. Throws
 * `InvalidOptionsError` with class and method for a `batch` that cannot be used. See docs/batches.md.
 *
 * @example
 * ```ts
 * class Reminders {
 *   @OnScheduledJob(sendReminder, { batch: { size: 100, waitMs: '1s' } })
 *   send(reminders: { to: string }[], jobs: ScheduledJob[]) {
 *     console.log(`${reminders.length} reminders, the first one of job ${jobs[0]!.id}`);
 *   }
 * }
 * ```
 */
export function OnScheduledJob<T, Form extends PayloadForm>(
  job: ScheduledJobDefinition<T, Form>,
  options: HandlerOptions<NoInfer<PayloadOf<T>>> &
    RecurrencePayloadFor<NoInfer<PayloadOf<T>>> & { batch: BatchOptions },
): HandlerDecorator<(payloads: ReceivedPayload<T, Form>[], jobs: ScheduledJob<ReceivedPayload<T, Form>>[]) => unknown>;
/**
 * Makes a method of a provider or controller the handler of a job. The method gets `(payload, job)`. If it returns, the job is
 * completed, unless it returns a `JobOutcome`. If it throws, the attempt has failed. With a definition, the types of the parameters
 * are checked; without a payload class the payload is what JSON makes of it, so a `Date` arrives as a string. A pipe that throws an
 * `HttpException` of 400 to 499 refuses the payload: the job is dead at once, with the reason `invalid-payload`. Throws
 * `InvalidOptionsError` for an option that cannot be used, and on a static method or an arrow property, which would never run.
 *
 * With `cron` or `everyMs` the decorator also declares a recurrence. Repeat the decorator on the method with other `recurrenceId`s to
 * declare several. A rule that cannot be used stops the application at its start, with an `InvalidScheduleError`, and so does a
 * `recurrencePayload` that does not fit, with an `InvalidPayloadError`, or that is missing where the payload has a class, with an
 * `InvalidOptionsError`; all name the method.
 *
 * @example
 * ```ts
 * class Reminders {
 *   @OnScheduledJob(sendReminder, { concurrency: 5 })
 *   send({ to }: { to: string }, job: ScheduledJob) {
 *     console.log(`A reminder for ${to}, attempt ${job.attempt}`);
 *   }
 *
 *   @OnScheduledJob('digest.send', { cron: '0 7 * * *', timeZone: 'Europe/Paris' })
 *   sendDigests() {
 *     console.log('Once a day over all processes, at 7 in Paris');
 *   }
 * }
 * ```
 */
export function OnScheduledJob<T, Form extends PayloadForm>(
  job: ScheduledJobDefinition<T, Form>,
  options?: HandlerOptions<NoInfer<PayloadOf<T>>> & RecurrencePayloadFor<NoInfer<PayloadOf<T>>>,
): HandlerDecorator<(payload: ReceivedPayload<T, Form>, job: ScheduledJob<ReceivedPayload<T, Form>>) => unknown>;
export function OnScheduledJob<T extends object>(
  job: string,
  options: HandlerOptions<NoInfer<PayloadOf<T>>> & { payload: PayloadClass<T>; batch: BatchOptions },
): HandlerDecorator<(payloads: T[], jobs: ScheduledJob<T>[]) => unknown>;
export function OnScheduledJob<T extends object>(
  job: string,
  options: HandlerOptions<NoInfer<PayloadOf<T>>> & { payload: PayloadClass<T> },
): HandlerDecorator<(payload: T, job: ScheduledJob<T>) => unknown>;
export function OnScheduledJob(
  job: string,
  options: HandlerOptions & { batch: BatchOptions },
): HandlerDecorator<AnyBatchHandler>;
export function OnScheduledJob(job: string, options?: HandlerOptions): HandlerDecorator<AnyHandler>;
export function OnScheduledJob(
  job: ScheduledJobDefinition | string,
  options?: HandlerOptions,
): HandlerDecorator<AnyHandler | AnyBatchHandler> {
  // Here nobody knows the method yet, which the error has to name.
  if (job === undefined) return refuseMissing;
  const mark = readMark(job, options);
  return (target, key, descriptor) => {
    const method = methodOf(`@OnScheduledJob('${mark.name}')`, mark.name, target, key, descriptor);
    addMark(HANDLER_METADATA, withBatch(mark, options?.batch, placeOf(target, key)), method, target, key);
    const params = { [`${PAYLOAD_PARAM}:0`]: { index: 0, pipes: [] }, [`${JOB_PARAM}:1`]: { index: 1, pipes: [] } };
    Reflect.defineMetadata(PARAMS_METADATA, params, target.constructor, key);
  };
}

function refuseMissing(target: object, key: string | symbol): never {
  throw new InvalidOptionsError(
    `@OnScheduledJob on ${placeOf(target, key)}: job: got undefined, expected a definition or a name. ${CIRCULAR_IMPORT}`,
  );
}

function readMark(job: ScheduledJobDefinition | string, options: HandlerOptions | undefined): HandlerMark {
  const definition = readDefinition(job);
  const name = readOne(jobName, definition?.name ?? job, '@OnScheduledJob: job', invalidOptions);
  const where = `@OnScheduledJob('${name}')`;
  const refuse = (message: string) => new InvalidOptionsError(message, { jobName: name });
  refuseJobOptions(options, where, refuse);
  const read = readOptions(
    options,
    {
      queue: keyPart,
      instance: keyPart,
      payload: classReference,
      ...RUN_OPTIONS_SHAPE,
      ...RECURRENCE_SHAPE,
      batch: anything,
    },
    where,
    refuse,
  );
  const { recurrence, rest } = splitRecurrence(read);
  const { queue, instance, payload, batch: _, ...own } = rest;
  if (payload && definition?.payload) {
    throw refuse(
      `${where}: payload: got ${payload.name}, expected none: the definition has the payload class ${definition.payload.name}. Remove the option.`,
    );
  }
  return {
    name,
    instance: instance ?? DEFAULT_INSTANCE,
    queue: queue ?? definition?.queue,
    payload: payload ?? definition?.payload,
    definition,
    recurrence,
    own,
    defined: definition?.settings,
  };
}

/** Read where the class and the method are known, which an error of it names. */
function withBatch(mark: HandlerMark, batch: BatchOptions | undefined, place: string): HandlerMark {
  if (batch === undefined) return mark;
  const refuse = (message: string) => new InvalidOptionsError(message, { queue: mark.queue, jobName: mark.name });
  return {
    ...mark,
    own: { ...mark.own, batch: readBatch(batch, `@OnScheduledJob('${mark.name}') on ${place}`, refuse) },
  };
}

import { LAST_INSTANT_MS } from '../core/constants.js';
import { InvalidScheduleError } from '../core/errors.js';
import { readDefinition, type ScheduledJobDefinition } from '../core/job/definition.js';
import { describe } from '../core/read/describe.js';
import { instant } from '../core/read/due.js';
import { parseDuration } from '../core/read/duration.js';
import { readOne, readOptions } from '../core/read/shape.js';
import type { ReadExpectation } from './look/expectations.js';
import type { JobKind } from './look/job-kind.js';

// How the tester reads what a test says. Each throws `InvalidScheduleError`, before anything has happened.

/** A job by its definition or its name. */
// biome-ignore lint/suspicious/noExplicitAny: any payload
export type AnyJob = ScheduledJobDefinition<any> | string;

export const refuse = (message: string) => new InvalidScheduleError(message);

/** Which jobs a test means: those of a definition that names a queue are of that queue; otherwise of any queue. */
export function kindOf(job: AnyJob): JobKind {
  const kind: JobKind | undefined = typeof job === 'string' ? { name: job } : readDefinition(job);
  if (kind === undefined) throw refuse(`job: got ${describe(job)}, expected a definition or a name.`);
  return { name: kind.name, queue: kind.queue };
}

/** How far `advance` goes. */
export function readAdvance(duration: unknown): number {
  const isInstant = parsesAsInstant(duration);
  if (isInstant)
    throw refuse(`advance: got ${describe(duration)}, expected a duration; for an instant, call drain({ until }).`);
  return readMs(duration, 'advance');
}

function parsesAsInstant(value: unknown): boolean {
  return value instanceof Date || (typeof value === 'string' && 'value' in instant(value));
}

/** Up to when `drain` goes; `undefined` for now. */
export function readDrain(options: unknown): number | undefined {
  if (typeof options === 'number' || typeof options === 'string')
    throw refuse(
      `drain: got ${describe(options)}, expected an object of options, such as { until }. Did you mean advance?`,
    );
  const { until } = readOptions<{ until: unknown }>(options, { until: (value) => ({ value }) }, 'drain', refuse);
  return until === undefined ? undefined : readAt(until, 'drain: until');
}

/** Milliseconds of a duration. */
export function readMs(duration: unknown, where: string): number {
  const ms = parseDuration(duration);
  if (typeof ms === 'object') throw refuse(`${where}: ${ms.problem}.`);
  return ms;
}

/** Epoch milliseconds of an instant. */
export function readAt(at: unknown, where: string): number {
  return readOne(instant, at, where, refuse);
}

/** The instant so much later. Throws where no Date can hold it. */
export function laterBy(ms: number, nowMs: number, where: string): number {
  const mostMs = LAST_INSTANT_MS - nowMs;
  if (ms > mostMs)
    throw refuse(`${where}: got ${ms} ms, expected at most ${mostMs}: no Date can hold a later instant.`);
  return nowMs + ms;
}

/** The signal of `{ signal }`. */
export function readSignal(options: unknown, where: string): AbortSignal | undefined {
  const { signal } = readOptions<{ signal: unknown }>(options, { signal: (value) => ({ value }) }, where, refuse);
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  throw refuse(`${where}: signal: got ${describe(signal)}, expected an AbortSignal.`);
}

/** `nowMs`: the virtual time. */
export function readExpectation(given: unknown, nowMs: number, where: string): ReadExpectation {
  const anything = (value: unknown) => ({ value });
  const { payload, at, within } = readOptions<{ payload: unknown; at: unknown; within: unknown }>(
    given,
    { payload: anything, at: anything, within: anything },
    where,
    refuse,
  );
  const withinMs = within === undefined ? undefined : readMs(within, `${where}: within`);
  if (withinMs !== undefined) laterBy(withinMs, nowMs, `${where}: within`);
  return { payload, atMs: at === undefined ? undefined : readAt(at, `${where}: at`), withinMs };
}

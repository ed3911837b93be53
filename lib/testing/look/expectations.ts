import { type Duration, span } from '../../core/read/duration.js';
import { differences } from './differences.js';
import { isUnread, type WaitingJob } from './waiting-jobs.js';

/** A matcher of a test runner, such as `expect.any(String)`. */
interface Matcher {
  asymmetricMatch(value: never): boolean;
}

/**
 * A part of a payload, as a test expects it: at any depth, properties may be left out and matchers may stand. A Date, and whatever else
 * has `toJSON`, may be given as it was sent or as JSON writes it.
 */
export type PayloadPart<T> = unknown extends T ? unknown : Matcher | PartOf<T>;

type PartOf<T> = T extends void
  ? null | undefined
  : T extends string | number | boolean | bigint | symbol | null
    ? T
    : T extends { toJSON(...key: never[]): infer Written }
      ? T | Written
      : T extends readonly unknown[]
        ? { [I in keyof T]: PayloadPart<T[I]> }
        : { [K in keyof T as T[K] extends (...args: never[]) => unknown ? never : K]?: PayloadPart<T[K]> };

/** An instant as failures print it. */
export const iso = (ms: number) => new Date(ms).toISOString();

/** What is expected of a waiting job. `T`: what its definition says of the payload. */
export interface JobExpectation<T = unknown> {
  /** A part of its payload. Matchers such as `expect.any(String)` may stand in it. */
  payload?: PayloadPart<T>;
  /** When it is due: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
  at?: Date | number | string;
  /** With `at`, how far off it may be, before or after. Alone: it is due no later than so long from now. */
  within?: Duration;
}

/** What has been read of an expectation. */
export interface ReadExpectation {
  payload?: unknown;
  atMs?: number;
  withinMs?: number;
}

/** What of a job is not as expected; none where it fits. */
export function misfits(job: WaitingJob, expected: ReadExpectation, nowMs: number): string[] {
  const { payload, atMs, withinMs } = expected;
  const off = dueProblem(job.dueAt.getTime(), atMs, withinMs, nowMs);
  return [...(off ? [off] : []), ...(payload === undefined ? [] : payloadProblems(job, payload))];
}

function payloadProblems(job: WaitingJob, expected: unknown): string[] {
  if (isUnread(job))
    return ['payload: cannot be read at once, because its codec answers a promise or cannot decode it'];
  return differences(job.payload, expected, 'payload');
}

function dueProblem(dueMs: number, atMs: number | undefined, withinMs: number | undefined, nowMs: number) {
  if (atMs !== undefined) {
    const byMs = dueMs - atMs;
    if (Math.abs(byMs) <= (withinMs ?? 0)) return undefined;
    const off = `${span(Math.abs(byMs))} ${byMs > 0 ? 'later' : 'earlier'} than expected`;
    return `due: got ${iso(dueMs)}, expected ${iso(atMs)}: ${off}${zoneHint(dueMs, byMs)}`;
  }
  if (withinMs === undefined || dueMs <= nowMs + withinMs) return undefined;
  const lastMs = nowMs + withinMs;
  return `due: got ${iso(dueMs)}, expected no later than ${iso(lastMs)}: ${span(dueMs - lastMs)} later than expected`;
}

/** The usual mistake: one of the two was made from a wall time of this machine. */
function zoneHint(dueMs: number, byMs: number): string {
  const offsetMs = new Date(dueMs).getTimezoneOffset() * 60_000;
  if (offsetMs === 0 || Math.abs(byMs) !== Math.abs(offsetMs)) return '';
  return `, the offset of this machine's time zone from UTC. Is one of the two a local time?`;
}

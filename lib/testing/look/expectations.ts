import { firstFew } from '../../core/read/describe.js';
import type { Duration } from '../../core/read/duration.js';
import { ScheduledQueueTestError } from '../errors.js';
import { differences, shown } from './differences.js';
import type { TestedRun } from './tested-run.js';
import { isUnread, type WaitingJob } from './waiting-jobs.js';

/** What is expected of a waiting job. */
export interface JobExpectation {
  /** A part of its payload. Matchers such as `expect.any(String)` may stand in it. */
  payload?: unknown;
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

const MOST_TOLD = 10;
const SPANS: [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

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
    return `due ${span(Math.abs(byMs))} ${byMs > 0 ? 'later' : 'earlier'} than expected`;
  }
  if (withinMs === undefined || dueMs <= nowMs + withinMs) return undefined;
  return `due ${span(dueMs - nowMs - withinMs)} later than expected`;
}

/** The error for a job that is expected and not there: what is there instead, and how it differs. */
export function notScheduled(
  name: string,
  expected: ReadExpectation,
  waiting: readonly WaitingJob[],
  lastRuns: readonly TestedRun[],
  nowMs: number,
): ScheduledQueueTestError {
  const ofName = waiting.filter((job) => job.name === name);
  const others = waiting.filter((job) => job.name !== name);
  const lines = [
    ...ofName.map((job) => `${line(job, nowMs)}: ${misfits(job, expected, nowMs).join('; ')}`),
    ...others.map((job) => `${line(job, nowMs)}: another job`),
  ];
  const what = `Expected job '${name}' to be scheduled${said(expected, nowMs)}.`;
  const runs = lastRuns.map((run) => `'${run.name}' (${run.id}), attempt ${run.attempt}: ${run.outcome}`);
  const ran = runs.length > 0 ? `The last runs were:\n${list(runs)}` : 'Nothing has run either.';
  if (lines.length === 0) return failed(name, `${what} Nothing is scheduled. ${ran}`);
  const hasRun = ofName.length === 0 && lastRuns.some((run) => run.name === name);
  return failed(name, `${what} Scheduled instead:\n${list(lines)}${hasRun ? `\n${ran}` : ''}`);
}

/** The error for jobs that are there and are not expected. */
export function scheduledAllTheSame(
  name: string | undefined,
  expected: ReadExpectation,
  found: readonly WaitingJob[],
  nowMs: number,
): ScheduledQueueTestError {
  const what =
    name === undefined
      ? 'Expected nothing to be scheduled.'
      : `Expected no job '${name}' to be scheduled${said(expected, nowMs)}.`;
  return failed(name, `${what} Scheduled:\n${list(found.map((job) => line(job, nowMs)))}`);
}

function said({ payload, atMs, withinMs }: ReadExpectation, nowMs: number): string {
  const parts: string[] = [];
  if (atMs !== undefined) {
    const tolerance = withinMs === undefined ? '' : `, give or take ${span(withinMs)}`;
    parts.push(`due ${iso(atMs)}${tolerance}`);
  } else if (withinMs !== undefined) parts.push(`due by ${iso(nowMs + withinMs)}`);
  if (payload !== undefined) parts.push(`with payload ${shown(payload)}`);
  return parts.length > 0 ? `, ${parts.join(', ')}` : '';
}

function line({ name, id, queue, dueAt, payload }: WaitingJob, nowMs: number): string {
  const dueMs = dueAt.getTime();
  const when = dueMs <= nowMs ? 'due now' : `in ${span(dueMs - nowMs)}`;
  return `'${name}' (${id}) of queue '${queue}', due ${iso(dueMs)} (${when}), payload ${shown(payload)}`;
}

function list(lines: readonly string[]): string {
  return firstFew(
    lines.map((text) => `  - ${text}`),
    MOST_TOLD,
    '\n',
  );
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The two largest units of a length of time. */
function span(ms: number): string {
  let left = Math.round(ms);
  const parts: string[] = [];
  for (const [unit, size] of SPANS) {
    if (left < size || parts.length === 2) continue;
    parts.push(`${Math.floor(left / size)} ${unit}`);
    left %= size;
  }
  return parts.join(' ') || '0 ms';
}

function failed(jobName: string | undefined, message: string): ScheduledQueueTestError {
  return new ScheduledQueueTestError(message, { jobName });
}

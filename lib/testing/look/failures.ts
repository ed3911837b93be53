import { firstFew } from '../../core/read/describe.js';
import { span } from '../../core/read/duration.js';
import { ScheduledQueueTestError } from '../errors.js';
import { shown } from './differences.js';
import { iso, misfits, type ReadExpectation } from './expectations.js';
import type { GoneJob } from './heard-jobs.js';
import { isOfKind, type JobKind } from './job-kind.js';
import type { TestedRun } from './tested-run.js';
import type { WaitingJob } from './waiting-jobs.js';

const MOST_TOLD = 10;

/** What has become of jobs that wait no more. */
export interface Past {
  /** The last runs, of the job in question if it has run, else of all. */
  readonly runs: readonly TestedRun[];
  /** The jobs of the kind in question that went without a run. */
  readonly gone: readonly GoneJob[];
}

/** The error for a job that is expected and not there: what is there instead, and how it differs. */
export function notScheduled(
  kind: JobKind,
  expected: ReadExpectation,
  waiting: readonly WaitingJob[],
  { runs, gone }: Past,
  nowMs: number,
): ScheduledQueueTestError {
  const near = waiting
    .filter(({ name }) => name === kind.name)
    .map((job) => ({ job, problems: [...queueProblems(job, kind), ...misfits(job, expected, nowMs)] }))
    // Those that nearly fit come first.
    .sort((a, b) => a.problems.length - b.problems.length);
  const others = waiting.filter(({ name }) => name !== kind.name);
  const items = [
    ...near.map(({ job, problems }) => [line(job, nowMs), ...problems].join('\n      ')),
    ...others.map((job) => `${line(job, nowMs)}: another job`),
  ];
  const sentences = [`Expected job ${titleOf(kind)} to be scheduled${said(expected, nowMs)}.`];
  sentences.push(items.length === 0 ? 'Nothing is scheduled.' : `Scheduled instead:\n${list(items)}`);
  if (near.length === 0) sentences.push(...pastOf(kind, runs, gone, items.length === 0));
  return failed(
    kind,
    sentences.reduce((text, next) => text + (text.includes('\n') ? '\n' : ' ') + next),
  );
}

/** `nothingWaits`: what other jobs have done may say something, too. */
function pastOf(kind: JobKind, runs: Past['runs'], gone: Past['gone'], nothingWaits: boolean): string[] {
  const said: string[] = [];
  if (gone.length > 0)
    said.push(
      `Gone without a run:\n${list(gone.map(({ id, queue, end }) => `'${kind.name}' (${id}) of queue '${queue}': ${end}`))}`,
    );
  const hasRun = runs.some((run) => isOfKind(run, kind));
  if (hasRun || (nothingWaits && runs.length > 0 && gone.length === 0))
    said.push(`${hasRun ? 'Its last runs were' : 'The last runs were'}:\n${list(runs.map(runLine))}`);
  if (said.length === 0 && nothingWaits) said.push('Nothing has run either.');
  return said;
}

function runLine({ name, id, queue, attempt, startedAt, outcome }: TestedRun): string {
  return `'${name}' (${id}) of queue '${queue}', attempt ${attempt}, at ${iso(startedAt.getTime())}: ${outcome}`;
}

function queueProblems(job: WaitingJob, kind: JobKind): string[] {
  return isOfKind(job, kind) ? [] : [`queue: got '${job.queue}', expected '${kind.queue}', which the definition names`];
}

/** The error for jobs that are there and are not expected. */
export function scheduledAllTheSame(
  kind: JobKind | undefined,
  expected: ReadExpectation,
  found: readonly WaitingJob[],
  nowMs: number,
): ScheduledQueueTestError {
  const what =
    kind === undefined
      ? 'Expected nothing to be scheduled.'
      : `Expected no job ${titleOf(kind)} to be scheduled${said(expected, nowMs)}.`;
  return failed(kind, `${what} Scheduled:\n${list(found.map((job) => line(job, nowMs)))}`);
}

const titleOf = ({ name, queue }: JobKind) => `'${name}'${queue === undefined ? '' : ` of queue '${queue}'`}`;

function said({ payload, atMs, withinMs }: ReadExpectation, nowMs: number): string {
  const parts: string[] = [];
  if (atMs !== undefined) {
    const tolerance = withinMs === undefined ? '' : `, give or take ${span(withinMs)}`;
    parts.push(`due ${iso(atMs)}${tolerance}`);
  } else if (withinMs !== undefined) parts.push(`due by ${iso(nowMs + withinMs)}`);
  if (payload !== undefined) parts.push(`with payload ${shown(payload)}`);
  return parts.length > 0 ? `, ${parts.join(', ')}` : '';
}

function line({ name, id, queue, dueAt, payload, recurrence }: WaitingJob, nowMs: number): string {
  const dueMs = dueAt.getTime();
  const of = recurrence ? `, occurrence of recurrence '${recurrence.id}'` : '';
  const when = dueMs <= nowMs ? 'due now' : `in ${span(dueMs - nowMs)}`;
  return `'${name}' (${id}) of queue '${queue}'${of}, due ${iso(dueMs)} (${when}), payload ${shown(payload)}`;
}

function list(lines: readonly string[]): string {
  return firstFew(
    lines.map((text) => `  - ${text}`),
    MOST_TOLD,
    '\n',
  );
}

function failed(kind: JobKind | undefined, message: string): ScheduledQueueTestError {
  return new ScheduledQueueTestError(message, { jobName: kind?.name, queue: kind?.queue });
}

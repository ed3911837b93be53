import { type ChaosRecurrence, instantAfter, instantsBetween, isInstant, RECURRENCES } from '../recurrences.js';
import type { Job, RecurrenceCall, Run, Timeline } from '../timeline.js';
import { aboutAll, clockTime } from './rule.js';

/** An occurrence is missed where it has not begun by then after it was due, or by the time the next one is due. */
const MISSED_AFTER_MS = 60_000;
/** Redis' clock counts whole ms here and there. */
const ROUNDING_MS = 1;
/** How long an occurrence waits at a time for instants that no process has computed yet. */
const WAITS_FOR_INSTANTS_MS = 100;

/** A recurrence with what was asked of it, and the occurrences that have begun, by their instants. */
interface Recurred {
  id: string;
  recurrence: ChaosRecurrence;
  calls: readonly RecurrenceCall[];
  /** Calls that were told that there is no such recurrence. */
  unknown: readonly RecurrenceCall[];
  begun: readonly Occurrence[];
  /** Instants whose job was cancelled, or may have been. */
  cancelled: ReadonlySet<number>;
}
interface Occurrence extends Job {
  at: number;
}

function recurred(timeline: Timeline): Recurred[] {
  return Object.entries(RECURRENCES).map(([id, recurrence]) => {
    const calls = timeline.recurrenceCalls.filter((call) => call.recurrence === id);
    const jobs = [...timeline.jobs.values()].flatMap((job) =>
      job.occurrence?.recurrence === id ? [{ ...job, at: job.occurrence.at }] : [],
    );
    return {
      id,
      recurrence,
      calls: calls.filter(({ outcome }) => outcome !== 'refused'),
      unknown: calls.filter(({ isUnknown }) => isUnknown),
      begun: jobs.filter(({ runs }) => runs.length > 0).sort((a, b) => a.at - b.at),
      cancelled: new Set(jobs.filter(({ calls }) => calls.some(mayHaveChanged)).map(({ at }) => at)),
    };
  });
}

function aboutRecurrences(rule: string, judge: (recurred: Recurred, timeline: Timeline) => string[]) {
  return aboutAll(rule, (timeline) =>
    recurred(timeline).flatMap((one) => judge(one, timeline).map((message) => `${one.id}: ${message}`)),
  );
}

const mayHaveChanged = ({ outcome, changed }: { outcome: string; changed?: boolean }) =>
  outcome === 'unknown' || (outcome === 'ok' && changed === true);
const first = (calls: readonly RecurrenceCall[], of: 'begin' | 'end') => Math.min(...calls.map((call) => call[of]));

/** Each instant of a recurrence gets one job, from the first upsert on: none is left out and none gets two. */
export const oneJobAnInstant = aboutRecurrences('one-job-an-instant', (one) => [
  ...leftOut(one).map((at) => `no job of ${clockTime(at)} has begun, though a later one has`),
  ...one.begun.flatMap(({ at, runs }) => (ranAgain(runs) ? [`${clockTime(at)} ran again after it had completed`] : [])),
]);

function leftOut({ recurrence, calls, begun, cancelled }: Recurred): number[] {
  // A queueing one leaves out all but the latest of those that wait.
  if (recurrence.overlap === 'queue') return [];
  const beside = new Set(calls.map(({ id }) => id));
  const madeAt = first(calls, 'begin');
  // What was before the first upsert is backfilled, or judged by another rule.
  const ofRule = begun.filter(({ at, token }) => at >= madeAt && isInstant(recurrence, at) && !beside.has(token));
  if (ofRule.length === 0) return [];
  const upserts = calls.filter(({ operation, outcome }) => operation === 'upsert' && outcome === 'ok');
  // Once an upsert was answered, the first instant after that was due, if no earlier one was.
  const from = Math.min(ofRule[0]!.at, first(upserts, 'end'));
  const to = ofRule.at(-1)!.at;
  return instantsBetween(recurrence, from, to).filter((at) => {
    if (cancelled.has(at) || begun.some((other) => other.at === at)) return false;
    const before = ofRule.findLast((other) => other.at < at)?.at ?? Number.NEGATIVE_INFINITY;
    const after = ofRule.find((other) => other.at > at)!.at;
    return !mayBePaused(calls, before, at, after);
  });
}

/** Whether a pause and a resume may have taken away the instant between two that began. */
function mayBePaused(calls: readonly RecurrenceCall[], before: number, at: number, after: number): boolean {
  const changes = calls.filter(mayHaveChanged);
  return changes.some(
    (resume) =>
      resume.operation === 'resume' &&
      at <= resume.end &&
      after >= resume.begin &&
      changes.some(({ operation, begin, end }) => operation === 'pause' && begin <= resume.end && end >= before),
  );
}

/** It completed, says the library, and was claimed after that. */
function ranAgain(runs: readonly Run[]): boolean {
  return runs.some(
    ({ settled, settledBy }) => settled === 'completed' && runs.some((run) => run.claimedAt > settledBy!),
  );
}

/** Occurrences are of their rule and of nothing else, at their due times, none of a paused time; and what a call answers is true. */
export const recursAsAsked = aboutRecurrences('recurs-as-asked', (one) => [
  ...one.begun.flatMap((occurrence) => [...problemsOf(occurrence, one)]),
  ...upsertProblems(one),
  ...one.calls.flatMap(({ operation, id }) =>
    operation === 'runNow' && id !== undefined && !one.begun.some(({ token }) => token === id)
      ? [`runNow answered ${id}, which has not begun`]
      : [],
  ),
]);

function* problemsOf({ at, token, runs }: Occurrence, { id, recurrence, calls }: Recurred) {
  const what = `its occurrence of ${clockTime(at)}`;
  const byCall = calls.some(
    ({ operation, outcome, begin, end, ...call }) =>
      operation === 'runNow' && (outcome === 'unknown' ? begin <= at && at <= end : call.id === token),
  );
  const mayBeBackfilled = calls.some(({ operation }) => operation === 'backfill');
  if (!byCall && !isInstant(recurrence, at)) yield `${what} is none of its rule`;
  if (!byCall && at < first(calls, 'begin') && !mayBeBackfilled) yield `${what} was before the first upsert`;
  if (!byCall && isPaused(calls, at)) yield `${what} began, though the recurrence was paused then`;
  for (const { recurrence: said, attempt, dueAt, claimedAt } of runs) {
    if (said?.id !== id || said.at !== at) yield `${what} says that it is that of ${said?.id} and ${said?.at}`;
    if (byCall || mayBeBackfilled || attempt > 1 || !said) continue;
    // One that is made up for is due at its nominal instant.
    const latest = said.missed ? at : at + (recurrence.jitterMs ?? 0);
    // A queueing one is due again and again while it waits; and a cron one while no process has computed the instant behind it.
    const hasWaited = recurrence.overlap === 'queue' || (recurrence.cron && dueAt >= latest + WAITS_FOR_INSTANTS_MS);
    if (dueAt < at || (dueAt > latest && !hasWaited)) yield `${what} was due at ${clockTime(dueAt)}`;
    const next = instantAfter(recurrence, at);
    if (said.missed && claimedAt < Math.min(next, at + MISSED_AFTER_MS) - ROUNDING_MS)
      yield `${what} was claimed at ${clockTime(claimedAt)} and counts as missed`;
  }
}

/** Whether it is certain that a recurrence was paused at an instant, or removed before. */
function isPaused(calls: readonly RecurrenceCall[], at: number): boolean {
  return calls.some(
    (pause) =>
      (pause.operation === 'pause' || pause.operation === 'remove') &&
      pause.changed === true &&
      pause.end < at &&
      !calls.some(
        (other) =>
          other.operation === 'resume' && mayHaveChanged(other) && other.end >= pause.begin && other.begin <= at,
      ),
  );
}

/** It was created once, upserts of the same rule change nothing, and from then on it is there. */
function upsertProblems({ calls, unknown }: Recurred): string[] {
  const isThereFrom = first(
    calls.filter(({ operation, outcome }) => operation === 'upsert' && outcome === 'ok'),
    'end',
  );
  const wrong = unknown.find(({ begin }) => begin > isThereFrom);
  if (wrong) return [`${wrong.operation} was told that there is no such recurrence`];
  const created = calls.filter(({ operation, changed }) => operation === 'upsert' && changed);
  const removed = calls.some(
    ({ operation, begin }) => operation === 'remove' && created.some((call) => call.end >= begin),
  );
  if (created.length > 1 && !removed) return [`${created.length} upserts were told that they had created it`];
  return [];
}

/** Of a recurrence with overlap 'queue' no occurrence begins before the one before it has ended, retries included. */
export const oneAfterTheOther = aboutRecurrences('one-after-the-other', ({ recurrence, begun }) => {
  if (recurrence.overlap !== 'queue') return [];
  return begun.slice(1).flatMap((later, i) => {
    const earlier = begun[i]!;
    const last = earlier.runs.at(-1)!;
    const begins = later.runs[0]!.claimedAt;
    const endedAt = earlier.dead ? earlier.dead.diedAt : Math.max(last.claimedAt, last.endedAt?.earliest ?? 0);
    if (begins >= endedAt - ROUNDING_MS) return [];
    return [
      `${clockTime(later.at)} was claimed at ${clockTime(begins)}, that of ${clockTime(earlier.at)} ended at ${clockTime(endedAt)}`,
    ];
  });
});

/** Whatever has happened, each recurrence goes on once all is healed. */
export const recursAgain = aboutAll('recurs-again', (timeline) =>
  timeline
    .of('recurred')
    .flatMap(({ recurrence, from, mono, done }) =>
      done
        ? []
        : [`no occurrence of ${recurrence} has begun in the ${(mono - from).toFixed(0)} ms after all was healed`],
    ),
);

/** What is counted of the recurrences in a queue beyond the jobs that have begun: at the most, as nobody noted it. */
export function uncounted(timeline: Timeline, queue: string): { takenAway: number; leftOut: number } {
  const there = recurred(timeline).filter(({ recurrence }) => recurrence.queue === queue);
  const takes = ({ operation }: RecurrenceCall) => operation === 'pause' || operation === 'remove';
  return {
    takenAway: there.reduce((sum, { calls }) => sum + calls.filter(takes).length, 0),
    leftOut: there.reduce((sum, one) => sum + (one.recurrence.overlap === 'queue' ? instantsNotBegun(one) : 0), 0),
  };
}

function instantsNotBegun({ recurrence, calls, begun }: Recurred): number {
  if (calls.length === 0) return 0;
  const end = Math.max(
    ...calls.filter(({ operation }) => operation === 'remove').map((call) => call.end),
    begun.at(-1)?.at ?? 0,
  );
  return Math.max(0, instantsBetween(recurrence, first(calls, 'begin'), end + 1).length - begun.length);
}

import { BACKOFF_MS, MAX_LATENESS_MS, SNOOZE_MS } from '../settings.js';
import type { Call, Job, Run } from '../timeline.js';
import { aboutJobs, aboutLives, clockTime } from './rule.js';

/** Redis' clock counts whole ms here and there. */
const ROUNDING_MS = 1;

/** No run begins before its due time by Redis' clock, be it asked of the library, of the fence, or of a clock of our own. */
export const neverEarly = aboutJobs('never-early', ({ runs }) =>
  runs.flatMap(({ attempt, dueAt, latenessMs, claimedAt, startedAt }) => {
    const what = `attempt ${attempt}, due at ${clockTime(dueAt)},`;
    return [
      ...(latenessMs < 0 ? [`${what} was claimed ${-latenessMs} ms early, says the library`] : []),
      ...(claimedAt < dueAt ? [`${what} was claimed at ${clockTime(claimedAt)}, says its fence`] : []),
      ...(startedAt.latest < dueAt ? [`${what} began by ${clockTime(startedAt.latest)}`] : []),
      ...(claimedAt > startedAt.latest ? [`${what} began by ${clockTime(startedAt.latest)}, before its claim`] : []),
    ];
  }),
);

/** What must not begin too late does not; and only what would have is dead for that. */
export const lateAsAsked = aboutJobs('late-as-asked', ({ kind, runs, dead }) => {
  if (kind !== 'perishable') return [];
  const begun = runs.filter(({ claimedAt, dueAt }) => claimedAt - dueAt > MAX_LATENESS_MS);
  const problems = begun.map(
    ({ attempt, claimedAt, dueAt }) => `attempt ${attempt} began ${claimedAt - dueAt} ms late`,
  );
  const wasLateMs = dead?.reason === 'late' ? dead.diedAt - dead.dueAt : Number.POSITIVE_INFINITY;
  return wasLateMs > MAX_LATENESS_MS ? problems : [...problems, `it died as late when it was ${wasLateMs} ms late`];
});

/** Something that set a job's due time: after `begin` and before `end`, to between `low` and `high`. */
interface DueChange {
  begin: number;
  end: number;
  low: number;
  high: number;
  /** Whether it is certain that it happened. */
  certain: boolean;
}

/** Each run was due when the last change of its due time before its claim said so, or one that may have come after that. */
export const dueAsAsked = aboutLives('due-as-asked', (job) => {
  // Its recurrence asked for it; see `recurs-as-asked`.
  if (job.occurrence) return [];
  const changes = dueChanges(job);
  return job.runs.flatMap(({ attempt, dueAt, claimedAt }) => {
    const fits = changes.some(
      (change) =>
        change.low - ROUNDING_MS <= dueAt &&
        dueAt <= change.high + ROUNDING_MS &&
        change.begin <= claimedAt + ROUNDING_MS &&
        !changes.some((later) => later.certain && later.begin > change.end && later.end < claimedAt),
    );
    if (fits) return [];
    return [
      `attempt ${attempt}, claimed at ${clockTime(claimedAt)}, was due at ${clockTime(dueAt)}: nobody had asked for that, or somebody had asked otherwise since`,
    ];
  });
});

function dueChanges({ calls, runs }: Job): DueChange[] {
  return [...calls.flatMap(changeByCall), ...runs.flatMap(changeByRun)];
}

function changeByCall({ operation, outcome, when, begin, end, changed, status, dueAt }: Call): DueChange[] {
  if (operation === 'cancel' || operation === 'cancelRunning' || outcome === 'refused') return [];
  const certain = outcome === 'ok' && (changed === true || status === 'replaced');
  if (outcome === 'ok' && !certain) return [];
  if (dueAt !== undefined) return [{ begin, end, low: dueAt, high: dueAt, certain }];
  if (when && 'at' in when) return [{ begin, end, low: when.at, high: when.at, certain }];
  const delay = when?.delay ?? 0;
  return [{ begin, end, low: begin + delay, high: end + delay, certain }];
}

function changeByRun({ how, endedAt, settled, settledBy }: Run): DueChange[] {
  if (how !== 'fail' && how !== 'snooze') return [];
  const delay = how === 'fail' ? BACKOFF_MS : SNOOZE_MS;
  const begin = endedAt!.earliest;
  const end = settledBy ?? Number.POSITIVE_INFINITY;
  return [
    { begin, end, low: begin + delay, high: end + delay, certain: settled === 'failed' || settled === 'snoozed' },
  ];
}

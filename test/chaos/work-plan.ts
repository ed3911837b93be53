import { Dice } from './dice.js';
import { type ChaosPayload, KIND_NAMES, KINDS, type KindName } from './job-kinds.js';
import { GROUPS, LEASE_MS, type QueueName } from './settings.js';

/** A job as a producer plans it. */
export interface PlannedJob {
  token: string;
  queue: QueueName;
  /** Whether the producer chooses the id, which is then the token. */
  chosen: boolean;
  priority: number;
  /** From now, ms. */
  delayMs: number;
  /** Whether `delayMs` is given as an instant. */
  asInstant: boolean;
  payload: ChaosPayload;
}

/** A job that is there, or was. */
export type PlannedTarget = Pick<PlannedJob, 'token' | 'queue'>;

export type PlannedOperation = { pauseMs: number } & (
  | { operation: 'schedule'; jobs: PlannedJob[] }
  /** Under an id that was scheduled before: changes nothing, unless it was cancelled. */
  | { operation: 'again'; job: PlannedJob }
  /** Whatever the job of that id does: waits, runs, has ended or is dead. */
  | { operation: 'replace'; job: PlannedJob }
  | { operation: 'cancel' | 'runNow' | 'cancelRunning'; target: PlannedTarget }
  | { operation: 'reschedule'; target: PlannedTarget; delayMs: number; asInstant: boolean }
);

const MEAN_PAUSE_MS = 40;
/** Operations are about one of so many jobs scheduled last, so that they meet them waiting, running and just ended. */
const RECENT = 12;
/** Of those that work for a while, so that a `cancelRunning` mostly meets one that runs. */
const RECENT_LONG = 6;

/**
 * The operations of one producer, without end: what they are is up to the seed, what they meet is not. No job is of a kind in `without`.
 */
export function* planWork(
  seed: number,
  producer: string,
  without: readonly KindName[] = [],
): Generator<PlannedOperation> {
  const dice = new Dice(seed, producer);
  const kinds = KIND_NAMES.filter((kind) => !without.includes(kind));
  const recent: PlannedJob[] = [];
  const recentLong: PlannedJob[] = [];
  let jobs = 0;
  let revisions = 0;
  const newJob = (): PlannedJob => {
    const job = planJob(dice, `${producer}-${++jobs}`, kinds);
    if (job.chosen) recent.push(job);
    if (recent.length > RECENT) recent.shift();
    if (job.chosen && LONG.includes(job.payload.kind)) recentLong.push(job);
    if (recentLong.length > RECENT_LONG) recentLong.shift();
    return job;
  };
  for (;;) {
    const pauseMs = dice.gapMs(MEAN_PAUSE_MS);
    const known = recent.length > 0 ? dice.pick(recent) : undefined;
    const operation = dice.weighted(OPERATIONS);
    if (operation === 'schedule' || !known) yield { pauseMs, operation: 'schedule', jobs: [newJob()] };
    else if (operation === 'scheduleMany') {
      yield { pauseMs, operation: 'schedule', jobs: Array.from({ length: dice.between(2, 12) }, newJob) };
    } else if (operation === 'again') yield { pauseMs, operation, job: known };
    else if (operation === 'replace') {
      const { delayMs, asInstant } = planDue(dice);
      const payload = { ...known.payload, revision: ++revisions };
      yield { pauseMs, operation, job: { ...known, delayMs, asInstant, payload } };
    } else if (operation === 'reschedule') yield { pauseMs, operation, target: known, ...planDue(dice) };
    else if (operation === 'cancelRunning' && recentLong.length > 0)
      yield { pauseMs, operation, target: dice.pick(recentLong) };
    else yield { pauseMs, operation, target: known };
  }
}

/** One of them obeys the wish to be cancelled, the other one ends as if there were none. */
const LONG: readonly KindName[] = ['slow', 'cancellable'];

const OPERATIONS = [
  ['schedule', 45],
  ['scheduleMany', 10],
  ['again', 5],
  ['replace', 10],
  ['cancel', 14],
  ['reschedule', 14],
  ['runNow', 6],
  ['cancelRunning', 12],
] as const;

function planJob(dice: Dice, token: string, kinds: readonly KindName[]): PlannedJob {
  const kind = dice.weighted(kinds.map((name) => [name, KINDS[name].weight] as const));
  const payload: ChaosPayload = { token, revision: 0, kind };
  if (kind === 'flaky') payload.fails = dice.between(1, 3);
  if (kind === 'batched' && dice.chance(0.2)) payload.fails = dice.between(1, 3);
  if (kind === 'grouped') {
    Object.assign(payload, { group: dice.pick(GROUPS), workMs: dice.between(10, 300) });
    if (dice.chance(0.2)) payload.fails = dice.between(1, 2);
  }
  if (kind === 'slow') payload.workMs = Math.round(LEASE_MS * (dice.between(8, 20) / 10));
  if (kind === 'timed') Object.assign(payload, { fails: dice.between(1, 2), deaf: dice.chance(0.5) });
  if (kind === 'cancellable') payload.workMs = dice.between(100, 2_000);
  if (kind === 'blocking') payload.workMs = Math.round(LEASE_MS * (dice.between(11, 14) / 10));
  if (kind === 'snoozing') payload.snoozesForMs = dice.between(200, 1_500);
  if (kind === 'poison') payload.abruptly = dice.chance(0.5);
  const queue = dice.chance(0.3) ? 'kept' : 'default';
  return { token, queue, chosen: dice.chance(0.6), priority: dice.pick([1, 5, 5, 10]), ...planDue(dice), payload };
}

function planDue(dice: Dice): { delayMs: number; asInstant: boolean } {
  const longest = dice.weighted([
    [0, 35],
    [600, 35],
    [2_500, 25],
    [5_000, 5],
  ] as const);
  return { delayMs: dice.between(0, longest), asInstant: dice.chance(0.5) };
}

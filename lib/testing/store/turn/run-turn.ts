import { FEWEST_JOBS } from '../../../core/constants.js';
import type { Turn, TurnAnswer } from '../../../store/job-store.js';
import { preferredBy } from '../job.js';
import type { MemoryQueue } from '../memory-queue.js';
import type { Listener } from '../sleepers.js';
import { claim } from './claim.js';
import { moveOn } from './line-up.js';
import { type Opening, openingOf } from './opening.js';
import { pick } from './order.js';
import { type Patience, patienceOf, recover } from './recover.js';
import { trim } from './retention.js';
import { settle } from './settle.js';
import { lookForPlace, nextFreed, nextLook } from './sleep.js';
import { isFull, type Stage, stageOf } from './stage.js';
import { noteReservation, type SuspectOutcome, seekSuspect, waitsForSuspect } from './suspects.js';
import { isSomeLeft, yieldPlaces } from './yields.js';

/** Settles, renews, recovers, claims, and tells when to look again: in this order, and in one step. */
export function runTurn(queue: MemoryQueue, session: Listener, turn: Turn): TurnAnswer {
  const stage = stageOf(queue, session, turn);
  const { ledger, sleepers } = queue;
  const patience = patienceOf(queue, stage.nowMs);
  const activeBefore = ledger.active.size;
  const lastToFill = patience.firstLeaseEndMs === undefined ? undefined : queue.lastToFill;
  sleepers.wake(session);

  const { settled, lost, toCancel, staying } = settle(stage);
  const recovered = recover(stage, patience, staying);
  const opening = openingOf(stage, ledger.active.size);
  const suspect = seekSuspect(stage, opening);
  const looks = select(stage, opening, suspect);
  // A place that somebody leaves counts as taken: whoever respects it sleeps, and has to be told of another one.
  const mayFree =
    activeBefore >= queue.settings.globalConcurrency || (activeBefore > ledger.active.size && isSomeLeft(stage));
  opening.yieldsUntilMs = yieldPlaces(stage, opening.placesLeft, suspect);
  if (opening.yieldsUntilMs !== undefined) opening.count = stage.picked.length;
  const isIdle = stage.picked.length === 0;
  const { weight, isUnconfirmed } = claim(stage);
  if (looks) moveOn(stage);
  const { claimed, late, skippedOccurrences } = stage;
  for (const job of stage.returning) ledger.wait(job);
  const deadDropped = trim(stage, isIdle);

  // A suspect that was too late is not taken.
  if (suspect.outcome === 'taken' && claimed.length === 0) suspect.outcome = 'reserved';
  noteReservation(stage, suspect.outcome);
  // A process that empties itself for a suspect has a place for nothing else.
  const emptiesItself = suspect.outcome === 'reserved' && turn.suspects === 'reserve';
  const limitAfter = emptiesItself ? 0 : turn.limit - weight;
  if (emptiesItself || suspect.outcome === 'taken') stage.stopped = 'limit';
  const isPlaceFree = mayFree && ledger.active.size < queue.settings.globalConcurrency;
  const fillsLimit = claimed.length >= FEWEST_JOBS && limitAfter <= 0 && turn.standing === 'stays';
  queue.lastToFill = fillsLimit ? session.key : lastToFill;
  queue.served = { atMs: stage.nowMs, ...patience };

  const sleepMs = sleep(stage, opening, patience, limitAfter);
  tellOthers(stage, limitAfter, isPlaceFree);
  return {
    settled,
    lost,
    toCancel,
    recovered,
    late,
    brokenJobs: [],
    deadDropped,
    claimed,
    isUnconfirmed,
    expired: [],
    isReplay: false,
    sleepMs,
    skippedOccurrences,
    tendInMs: queue.timetable.tendInMs,
    toTend: [],
    isContended: lastToFill !== undefined && lastToFill !== session.key,
    suspect: waitsForSuspect(stage, suspect.outcome) ? 'waits' : suspect.outcome,
  };
}

/** A process that is kept for a suspect picks nothing else; the suspect takes all its capacity. True where it looks for others. */
function select(stage: Stage, { count }: Opening, { outcome, job }: SuspectOutcome): boolean {
  if (job) {
    const handler = stage.handlers.get(job.envelope.name);
    if (handler) handler.free--;
    stage.picked.push({ job, weight: stage.turn.limit });
  }
  const looks = !outcome && stage.turn.limit > 0 && count > 0;
  if (looks) pick(stage, count);
  return looks;
}

function sleep(stage: Stage, opening: Opening, patience: Patience, limitAfter: number): number | undefined {
  const { queue, session, turn, nowMs, handlers, claimed, stopped } = stage;
  if (limitAfter <= 0) return undefined;
  if (stopped === 'size' || stage.looksAgain) return 0;
  if (stopped === 'limit') return lookForPlace(stage) - nowMs;
  const lookAtMs = nextLook(stage, opening, patience);
  const goes = turn.standing === 'goes' || (turn.standing === 'until-claimed' && claimed.length > 0);
  const full = [...handlers.values()].filter(({ free }) => free <= 0).map(({ name }) => name);
  if (!goes && queue.sleepers.hears(session)) queue.sleepers.sleep(session, lookAtMs, new Set(full));
  return Math.max(0, lookAtMs - nowMs);
}

/** Whoever may have something to do by this turn is told. */
function tellOthers(stage: Stage, limitAfter: number, isPlaceFree: boolean): void {
  const { queue, session, turn, nowMs, claimed, stopped, fullNames } = stage;
  const { sleepers, ledger, settings } = queue;
  for (const job of stage.returning) {
    const looksItself = limitAfter > 0 && !isFull(stage, job.envelope.name) && turn.standing === 'stays';
    queue.tellOf(job, looksItself ? session : undefined);
  }
  const isOwn = (job: Parameters<typeof preferredBy>[0]) => preferredBy(job, settings.maxCrashes) === session.worker;
  const leavesJobs = turn.isLast && ledger.nextDue(undefined, isOwn) < Number.POSITIVE_INFINITY;
  const handsOver = turn.suspects === 'leave';
  if (leavesJobs || handsOver || isPlaceFree) sleepers.tellAll(nowMs, ({ key }) => key !== session.key);
  const isOfCrew = ({ crew, key }: Listener) => crew === session.crew && key !== session.key;
  // Sessions that sleep until they are told must hear when these leases end.
  if (queue.trustsHints && claimed.length > 0) sleepers.tellAll(nowMs + settings.leaseMs);
  // This session may look too late for a group that is held for a while.
  if (limitAfter <= 0) sleepers.tellAll(nextFreed(stage), ({ key }) => key !== session.key);
  // There is more than this session can take.
  if (stopped === 'limit' || stopped === 'size') sleepers.tellAll(nowMs, isOfCrew);
  for (const name of fullNames) sleepers.tellAll(nowMs, (other, full) => isOfCrew(other) && !full.has(name));
}

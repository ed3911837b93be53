import { FEWEST_JOBS } from '../../../core/constants.js';
import type { Turn, TurnAnswer } from '../../../store/job-store.js';
import { preferredBy } from '../job.js';
import type { MemoryQueue } from '../memory-queue.js';
import type { Listener } from '../sleepers.js';
import { type Claimed, claim } from './claim.js';
import { type Opening, openingOf } from './opening.js';
import { pick, type Selection } from './order.js';
import { type Patience, patienceOf, recover } from './recover.js';
import { trim } from './retention.js';
import { settle } from './settle.js';
import { lookForPlace, nextLook } from './sleep.js';
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
  const selection = select(stage, opening, suspect);
  // A place that somebody leaves counts as taken: whoever respects it sleeps, and has to be told of another one.
  const mayFree =
    activeBefore >= queue.settings.globalConcurrency || (activeBefore > ledger.active.size && isSomeLeft(stage));
  const yieldsUntilMs = yieldPlaces(stage, selection, opening.placesLeft, suspect);
  if (yieldsUntilMs !== undefined) opening.count = selection.picked.length;
  const isIdle = selection.picked.length === 0;
  const claims = claim(stage, selection);
  for (const job of stage.returning) ledger.wait(job);
  const deadDropped = trim(stage, isIdle);

  // A suspect that was too late is not taken.
  if (suspect.outcome === 'taken' && claims.claimed.length === 0) suspect.outcome = 'reserved';
  noteReservation(stage, suspect.outcome);
  const limitAfter = limitLeft(stage, claims, suspect);
  if (limitAfter < turn.limit - claims.weight || suspect.outcome === 'taken') selection.stopped = 'limit';
  const isPlaceFree = mayFree && ledger.active.size < queue.settings.globalConcurrency;
  const fillsLimit = claims.claimed.length >= FEWEST_JOBS && limitAfter <= 0 && turn.standing === 'stays';
  queue.lastToFill = fillsLimit ? session.key : lastToFill;
  queue.served = { atMs: stage.nowMs, ...patience };

  const sleepMs = sleep(stage, selection, opening, claims, patience, limitAfter, yieldsUntilMs);
  tellOthers(stage, selection, claims, limitAfter, isPlaceFree);
  return {
    settled,
    lost,
    toCancel,
    recovered,
    late: claims.late,
    brokenJobs: [],
    deadDropped,
    claimed: claims.claimed,
    isUnconfirmed: claims.isUnconfirmed,
    expired: [],
    isReplay: false,
    sleepMs,
    skippedOccurrences: claims.skippedOccurrences,
    tendInMs: queue.timetable.tendInMs,
    toTend: [],
    isContended: lastToFill !== undefined && lastToFill !== session.key,
    suspect: waitsForSuspect(stage, suspect.outcome) ? 'waits' : suspect.outcome,
  };
}

/** A process that is kept for a suspect picks nothing else; the suspect takes all its capacity. */
function select(stage: Stage, opening: Opening, { outcome, job }: SuspectOutcome): Selection {
  const nothing: Selection = { picked: [], fullNames: new Set() };
  if (job) {
    const handler = stage.handlers.get(job.envelope.name);
    if (handler) handler.free--;
    return { ...nothing, picked: [{ job, weight: stage.turn.limit }] };
  }
  return outcome || stage.turn.limit === 0 || opening.count === 0 ? nothing : pick(stage, opening.count);
}

/** A process that empties itself for a suspect has a place for nothing else. */
function limitLeft({ turn }: Stage, { weight }: Claimed, { outcome }: SuspectOutcome): number {
  return outcome === 'reserved' && turn.suspects === 'reserve' ? -weight : turn.limit - weight;
}

function sleep(
  stage: Stage,
  selection: Selection,
  opening: Opening,
  { claimed }: Claimed,
  patience: Patience,
  limitAfter: number,
  yieldsUntilMs: number | undefined,
): number | undefined {
  const { queue, session, turn, nowMs, handlers } = stage;
  if (limitAfter <= 0) return undefined;
  if (selection.stopped === 'bytes' || stage.looksAgain) return 0;
  if (selection.stopped === 'limit') return lookForPlace(stage) - nowMs;
  const lookAtMs = nextLook(stage, opening, claimed.length, patience, yieldsUntilMs);
  const goes = turn.standing === 'goes' || (turn.standing === 'until-claimed' && claimed.length > 0);
  const full = [...handlers.values()].filter(({ free }) => free <= 0).map(({ name }) => name);
  if (!goes && queue.sleepers.hears(session)) queue.sleepers.sleep(session, lookAtMs, new Set(full));
  return Math.max(0, lookAtMs - nowMs);
}

/** Whoever may have something to do by this turn is told. */
function tellOthers(
  stage: Stage,
  { stopped, fullNames }: Selection,
  { claimed }: Claimed,
  limitAfter: number,
  isPlaceFree: boolean,
): void {
  const { queue, session, turn, nowMs } = stage;
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
  // There is more than this session can take.
  if (stopped === 'limit' || stopped === 'bytes') sleepers.tellAll(nowMs, isOfCrew);
  for (const name of fullNames) sleepers.tellAll(nowMs, (other, full) => isOfCrew(other) && !full.has(name));
}

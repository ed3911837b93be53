import { isSuspect, type Job, preferredBy } from '../job.js';
import type { Listener } from '../sleepers.js';
import type { Opening } from './opening.js';
import { mayBeStolen, type Selection } from './order.js';
import { mayRun, type Stage } from './stage.js';

/** The promise is 250 ms. The other 50 are for the round trip of the next worker, and for the timer of the worker that looks again. */
export const OFFER_MS = 200;

/** How many places a turn offers. */
const OFFERS_A_TURN = 10;

/** Whom a job prefers, as the worker sees it that would run the job. */
const ITSELF = 1;
const NOBODY = 2;
const ANOTHER = 3;

interface Candidate {
  readonly job: Job;
  readonly kind: number;
  /** The only worker that may be offered the place. */
  readonly only?: string;
}

/**
 * A worker that settles and claims in one turn would keep all places under `globalConcurrency` for its own backlog. Therefore a turn that
 * would take the last place leaves one for each better job that this session may not run and that a sleeper with a place for it may: the
 * turn tells that sleeper, and keeps the place for OFFER_MS. Answers how many places it leaves.
 */
export function offerPlaces(stage: Stage, selection: Selection, opening: Opening): void {
  const { queue, nowMs } = stage;
  const { offers } = queue.gates;
  const { picked } = selection;
  const free = queue.settings.globalConcurrency - queue.ledger.active.size - opening.kept;
  if (!Number.isFinite(free) || picked.length === 0 || picked.length < free || !staysFor(stage, picked.length)) return;
  let places = Math.min(picked.length - offers.filter((offer) => !isKeptFor(stage, offer)).length, OFFERS_A_TURN);
  const asked = new Set(offers.filter((offer) => isKeptFor(stage, offer)).map(({ session }) => session));
  const offered = new Set(offers.filter((offer) => isKeptFor(stage, offer)).map(({ jobId }) => jobId));
  const better = candidates(stage, selection);
  while (places > 0 && picked.length > 0 && better.length > 0) {
    const best = takeBest(stage, better);
    const worst = picked.at(-1)!.job;
    if (!isBetter(stage, best, { job: worst, kind: kindHere(stage, worst) })) return;
    if (offered.has(best.job.id)) continue;
    const sleeper = sleeperFor(stage, best, asked);
    if (!sleeper) continue;
    asked.add(sleeper.key);
    offered.add(best.job.id);
    offers.push({ session: sleeper.key, jobId: best.job.id, untilMs: nowMs + OFFER_MS });
    giveBack(stage, selection);
    places--;
    selection.stopped = 'gate';
    opening.kept++;
    opening.count--;
    opening.untilMs = Math.min(opening.untilMs, nowMs + OFFER_MS);
  }
}

/** Ends the offers that are over: the place is not offered again before all are used up, or before its session has claimed something. */
export function settleOffers(stage: Stage, claims: boolean, isFilled: boolean, awaited: Job | undefined): void {
  const { gates } = stage.queue;
  const over = gates.offers.filter((offer) => !isKeptFor(stage, offer));
  gates.offers = gates.offers.filter((offer) => isKeptFor(stage, offer));
  for (const offer of over) {
    if (isFilled || (claims && offer.session === stage.session.key)) continue;
    gates.offers.push({ ...offer, untilMs: 0 });
  }
  if (awaited) gates.offers.push({ session: stage.session.key, jobId: awaited.id, untilMs: stage.nowMs + OFFER_MS });
}

const isKeptFor = ({ session, nowMs }: Stage, offer: { session: string; untilMs: number }) =>
  offer.untilMs > nowMs && offer.session !== session.key;

/** A pull that goes with its jobs could not come back for the place. A pull that stays, because it gives its only job back, can. */
function staysFor({ turn: { standing }, queue, session }: Stage, picked: number): boolean {
  if (standing === 'stays') return true;
  return standing === 'until-claimed' && picked === 1 && queue.sleepers.hears(session);
}

function giveBack(stage: Stage, { picked }: Selection): void {
  const handler = stage.handlers.get(picked.pop()!.job.envelope.name);
  if (handler) handler.free++;
}

/** The due jobs that cannot run here. */
function candidates(stage: Stage, { picked }: Selection): Candidate[] {
  const { ledger, settings } = stage.queue;
  const isPicked = new Set(picked.map(({ job }) => job));
  const found: Candidate[] = [];
  for (const { jobs } of ledger.waiting())
    for (const job of jobs) {
      if (job.dueAtMs > stage.nowMs) break;
      if (isPicked.has(job) || isSuspect(job, settings.maxCrashes)) continue;
      const preferred = preferredBy(job, settings.maxCrashes);
      if (preferred === undefined) {
        if (!mayRun(stage, job.envelope.name)) found.push({ job, kind: NOBODY });
      } else if (preferred !== stage.session.worker) {
        found.push({ job, kind: ITSELF, only: preferred });
        if (mayBeStolen(stage, job) && !mayRun(stage, job.envelope.name)) found.push({ job, kind: ANOTHER });
      }
    }
  return found;
}

/** By a search: where jobs both age and prefer workers, the order is not transitive, so it cannot be sorted by. */
function takeBest(stage: Stage, candidates: Candidate[]): Candidate {
  let best = 0;
  for (let i = 1; i < candidates.length; i++) if (isBetter(stage, candidates[i]!, candidates[best]!)) best = i;
  return candidates.splice(best, 1)[0]!;
}

/** The order of the queue. Of one priority, a job that prefers the sleeper is better than one that prefers nobody. */
function isBetter({ queue: { settings } }: Stage, a: Candidate, b: Candidate): boolean {
  const { ordering } = settings;
  const [first, second] = [a.job.envelope.priority, b.job.envelope.priority];
  if (first !== second) {
    const rank = ({ job }: Candidate) =>
      ordering.mode === 'strict' ? 0 : job.dueAtMs + job.envelope.priority * ordering.msPerLevel;
    return rank(a) === rank(b) ? first < second : rank(a) < rank(b);
  }
  if (a.kind !== b.kind) return a.kind < b.kind;
  return a.job.dueAtMs === b.job.dueAtMs ? a.job.id < b.job.id : a.job.dueAtMs < b.job.dueAtMs;
}

function kindHere(stage: Stage, job: Job): number {
  const preferred = preferredBy(job, stage.queue.settings.maxCrashes);
  if (preferred === undefined) return NOBODY;
  return preferred === stage.session.worker ? ITSELF : ANOTHER;
}

/** A sleeper that has a place for the job, and now knows of it; a place is offered to nobody who does not hear. */
function sleeperFor(stage: Stage, { job, only }: Candidate, asked: ReadonlySet<string>): Listener | undefined {
  const { sleepers } = stage.queue;
  for (const sleeper of sleepers.withPlaceFor(job.envelope.name)) {
    if (asked.has(sleeper.key) || sleeper.key === stage.session.key) continue;
    if (only !== undefined && sleeper.worker !== only) continue;
    if (sleepers.tell(sleeper, stage.nowMs)) return sleeper;
  }
  return undefined;
}

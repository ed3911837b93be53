import type {
  Claim,
  ClaimedJob,
  HandlerCapacity,
  Session,
  Settlement,
  SuspectWish,
  TurnAnswer,
} from '../../store/job-store.js';
import type { Caretakers } from '../../worker/recur/caretakers.js';
import type { Reporter } from '../../worker/report/reporter.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import type { JobHandler } from '../../worker/run/job-handler.js';
import type { EndedRun, Settler } from '../../worker/run/settler.js';
import { settledAs } from '../look/outcome-of.js';
import type { MemoryQueue } from '../store/memory-queue.js';
import type { Instant } from '../time/instant.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import { nextInstant } from './next-instant.js';
import type { RunOwner, TestRun } from './test-run.js';

export interface TestWorkerParts {
  readonly queue: MemoryQueue;
  readonly session: Session;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly settler: Settler;
  readonly reporter: Reporter;
  readonly caretakers: Caretakers;
  readonly clock: VirtualClock;
  readonly process: TestProcess;
}

/** What the workers of one module instance share. */
export interface TestProcess {
  /** The runs of all its workers whose handlers have not returned. */
  runs(): TestRun[];
  /** The worker that empties the process for a job that has to run alone. */
  reservedFor?: object;
}

const NEVER_ABORTS = new AbortController().signal;
/** What a name weighs whose handler fits into what is free, and what one weighs that does not: a turn is taken for 1. */
const FITS = 1;
const TOO_HEAVY = 2;
const MANY = 1_000;

/**
 * The worker of one queue under the test kit: it takes the turns of a real worker, each for one job at most, so that what one run does is
 * known before the next is claimed.
 */
export class TestWorker implements RunOwner {
  /** Those whose handlers have not returned. */
  readonly runs = new Set<TestRun>();
  isOpen = true;
  /** Somebody may want a job cancelled that sleeps, or its lease needs renewing. */
  renewsNext = false;
  private readonly outbox: { ended?: EndedRun; settlement: Settlement; run: TestRun }[] = [];

  constructor(private readonly parts: TestWorkerParts) {}

  /** What changes by time alone, and when. */
  get next(): Instant {
    // What becomes due meanwhile runs once Redis is back.
    if (this.parts.queue.outage.isOn) return { atMs: Number.POSITIVE_INFINITY, because: () => 'nothing' };
    return nextInstant(this.parts.queue, new Set(this.held().map(({ claim }) => claim.id)));
  }

  get name(): string {
    return this.parts.queue.name;
  }

  /** Makes itself known to the queue. */
  async begin(): Promise<void> {
    const cancel = () => {
      this.renewsNext = true;
      // A handler may wait for that while it sleeps, so nobody takes a turn.
      this.turn(false).catch(() => {});
    };
    this.parts.session.listen({ look() {}, cancel });
    await this.turn(false);
  }

  /** Tells what has ended and claims one job. */
  async claim(): Promise<{ claimed?: ClaimedJob; isIdle: boolean }> {
    const answer = await this.turn(this.isOpen);
    if (!answer) return { isIdle: true };
    const isIdle = this.outbox.length === 0 && answer.claimed.length === 0 && answer.sleepMs !== 0;
    return { claimed: answer.claimed[0], isIdle };
  }

  /** Tells what has ended, and claims nothing. */
  async tell(): Promise<void> {
    await this.turn(false);
  }

  end(run: TestRun, ended: EndedRun): void {
    run.settle(ended);
    this.outbox.push({ ended, settlement: ended.settlement, run });
  }

  /** The job goes back with no attempt used. */
  release(run: TestRun): void {
    run.throwAway('released');
    const { id, fence } = run.claim;
    this.outbox.push({ settlement: { id, fence, transition: 'release' }, run });
  }

  timeOut(run: TestRun): void {
    if (run.isSettled) return;
    const error = abortReasons.timeout(run.job!);
    this.end(run, this.parts.settler.failed(run.job!, error));
    run.job!.abandon(error);
  }

  loseLease(run: TestRun, reason?: Error): void {
    run.loseLease(reason);
    this.parts.reporter.leaseLost(this.name, run.job!);
  }

  claimAgain(claim: ClaimedJob): ClaimedJob | undefined {
    const fence = this.parts.queue.handOutAgain(claim);
    return fence === undefined ? undefined : { ...claim, fence };
  }

  /** No more is claimed; handlers that sleep are woken by an error, and their jobs go back. */
  async close(): Promise<void> {
    this.isOpen = false;
    for (const run of this.held()) if (run.sleepsNow) this.release(run);
    for (const run of this.runs) if (run.sleepsNow) run.leave();
    this.parts.session.leave();
    await this.turn(false, true);
    this.parts.caretakers.leave(this.name, this);
  }

  private held(): TestRun[] {
    return [...this.runs].filter(({ isSettled, fault }) => !isSettled && fault?.kind !== 'lose-lease');
  }

  /** None is taken while Redis is away: what is to be told waits. */
  private async turn(claims: boolean, isLast = false): Promise<TurnAnswer | undefined> {
    if (this.parts.queue.outage.isOn) return undefined;
    const { session, reporter, caretakers, clock, process } = this.parts;
    const told = this.outbox.splice(0);
    // Runs whose settlements are told need no lease any more.
    const renewals: Claim[] = this.renewsNext ? this.held().map(({ claim }) => claim) : [];
    this.renewsNext = false;
    const places = claims ? this.places() : undefined;
    const turn = {
      settlements: told.map(({ settlement }) => settlement),
      renewals,
      limit: places ? FITS : 0,
      handlers: places ?? [],
      isLast,
      standing: 'stays' as const,
      suspects: this.suspectWish(places !== undefined),
    } satisfies Parameters<Session['turn']>[0];
    const answer = await session.turn(turn, NEVER_ABORTS);
    const sent = { turn, ended: [], renews: renewals.length > 0, sentAt: clock.now(), isAwaited: true };
    for (const [i, { ended, run, settlement }] of told.entries()) {
      if (ended) settledAs(run.told, answer.settled[i]!);
      const one = { ...sent, turn: { ...turn, settlements: [settlement] }, ended: ended ? [ended] : [] };
      reporter.settled(this.name, one, [answer.settled[i]!]);
    }
    reporter.found(this.name, answer);
    for (const id of answer.lost) {
      const run = this.find(id);
      if (run?.job) this.loseLease(run);
    }
    for (const id of answer.toCancel) this.cancel(id);
    if (!isLast) caretakers.hear(this.name, this, answer);
    if (places) process.reservedFor = answer.suspect === 'reserved' ? this : undefined;
    // A large claim has to be confirmed before its job begins.
    if (answer.isUnconfirmed)
      await session.turn({ ...turn, settlements: [], renewals: answer.claimed, limit: 0, suspects: '' }, NEVER_ABORTS);
    return answer;
  }

  /**
   * What is said of handlers whose limits are near; `undefined` where nothing may be claimed. A turn for 1 claims one job; a handler that
   * is too heavy for what is free is said to weigh 2, so its job waits, and no lighter one goes before it.
   */
  private places(): HandlerCapacity[] | undefined {
    const { handlers, queue, process } = this.parts;
    if (process.reservedFor && process.reservedFor !== this) return undefined;
    if (process.runs().some(({ runsAlone }) => runsAlone)) return undefined;
    let free = queue.settings.concurrency;
    const running = new Map<string, number>();
    for (const {
      told: { name },
    } of this.runs) {
      free -= handlers.get(name)?.settings.weight ?? 1;
      running.set(name, (running.get(name) ?? 0) + 1);
    }
    if (free <= 0) return undefined;
    const said: HandlerCapacity[] = [];
    for (const [name, { settings }] of handlers) {
      if (settings.weight === 1 && settings.concurrency === Number.POSITIVE_INFINITY) continue;
      const left = Math.min(MANY, settings.concurrency - (running.get(name) ?? 0));
      said.push({ name, weight: settings.weight > free ? TOO_HEAVY : FITS, free: left });
    }
    return said;
  }

  /** A job that has one crash left runs alone in this process. */
  private suspectWish(claims: boolean): SuspectWish {
    const { process } = this.parts;
    const isReserved = process.reservedFor === this;
    if (!claims) return isReserved ? 'keep' : '';
    const isEmpty = process.runs().length === 0;
    if (isReserved) return isEmpty ? 'claim' : 'keep';
    return isEmpty ? 'take' : 'reserve';
  }

  private find(id: string): TestRun | undefined {
    return this.held().find(({ claim }) => claim.id === id);
  }

  private cancel(id: string): void {
    const run = this.find(id);
    if (!run?.job) return;
    this.end(run, this.parts.settler.cancelled(run.job));
    run.job.abandon(abortReasons.cancelled(run.job));
  }
}

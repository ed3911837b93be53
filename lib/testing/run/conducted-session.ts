import type {
  ClaimedJob,
  HandlerCapacity,
  Session,
  SessionHints,
  SuspectWish,
  Turn,
  TurnAnswer,
} from '../../store/job-store.js';
import type { BatchCalls } from '../../worker/batch/batch-calls.js';
import type { JobHandler } from '../../worker/run/job-handler.js';
import { settledAs } from '../look/outcome-of.js';
import type { QueueInside } from '../redis/queue-inside.js';
import { settled } from '../time/event-loop.js';
import type { Instant } from '../time/virtual-clock.js';
import type { TestCall } from './test-call.js';
import { runOf, type TestRun } from './test-run.js';

/** What a name weighs whose handler fits into what is free, and what one weighs that does not, in a turn that claims one job. */
const FITS = 1;
const TOO_HEAVY = 2;

export interface ConductedSessionParts {
  readonly session: Session;
  readonly queue: QueueInside;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Makes the run of a job that was claimed. */
  readonly open: (claim: ClaimedJob, isSecond: boolean) => TestRun;
  /** Begins a call with these runs. */
  readonly begin: (runs: readonly TestRun[]) => TestCall;
}

/**
 * The session of a worker under test. It passes each turn on, with one rule added: a turn claims nothing, unless the conductor has called
 * `claim`; then one turn claims one job. So one run goes on at a time, in the order of the queue. Where jobs share a call, the next turn
 * claims those that join the first one, and the call begins when the conductor claims again. The worker is never told to look again by
 * itself, as the conductor knows when time changes something.
 */
export class ConductedSession implements Session {
  /** Runs of which the queue has not heard the end yet, those included that wait for their call: few, as each call begins alone. */
  private runs: TestRun[] = [];
  /** Missing where no handler gets several jobs a call. */
  private batches?: BatchCalls;
  private hints?: SessionHints;
  /** The last turn. */
  private underWay?: Promise<TurnAnswer>;
  /** The next turn may claim a job. */
  private mayClaim = false;
  /** What the conductor has begun last, while it goes on to claim. */
  private last?: TestCall;
  /** The name of the job that was claimed last, where it waits for its call. */
  private collected?: string;
  /** All that is due of this name joins the call that fills, before anything else is claimed. */
  private joining?: string;
  private looksAgain = false;
  /** When `claim` last found nothing: while all is as it was then, it need not look again. */
  private idleAt?: string;
  /** Lets a turn go on that waits for the next `claim`, so that one turn tells the end of a run and claims the next job. */
  private resume?: () => void;

  constructor(private readonly parts: ConductedSessionParts) {}

  /** From now on their calls begin one at a time, in `claim`. */
  conduct(batches: BatchCalls): void {
    this.batches = batches;
    batches.beginByThemselves = false;
  }

  turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    this.underWay = this.take(turn, signal);
    return this.underWay;
  }

  listen(hints: SessionHints): void {
    this.hints = hints;
    this.parts.session.listen({ look() {}, cancel: () => hints.cancel() });
  }

  leave(): void {
    this.letGo();
    this.hints = undefined;
    this.parts.session.leave();
  }

  /** Lets the worker claim one job, or begin a call with jobs that it has claimed before. `isIdle`: there is none that it may run now. */
  async claim(): Promise<{ call?: TestCall; isIdle: boolean }> {
    const joined = this.joining;
    const ready = joined === undefined ? await this.beginReady() : undefined;
    if (ready) return { call: ready, isIdle: false };
    if (this.idleAt === this.parts.queue.stamp) return { isIdle: true };
    const before = this.last;
    this.looksAgain = false;
    this.collected = undefined;
    await this.claimOne();
    const call = this.last === before ? undefined : this.last;
    if (this.collected !== undefined) this.joining = (await this.fills(this.collected)) ? this.collected : undefined;
    else if (!this.looksAgain) this.joining = undefined;
    const isIdle = !call && !this.looksAgain && this.collected === undefined && joined === undefined;
    if (isIdle) this.letGo();
    this.idleAt = isIdle ? this.parts.queue.stamp : undefined;
    return { call, isIdle };
  }

  /** Begins a call with jobs that were claimed before, if there is one, and a place for it. */
  async beginReady(): Promise<TestCall | undefined> {
    const { batches, parts } = this;
    if (!batches?.collected.any || parts.queue.outage.isOn) return undefined;
    // A turn that waits for the next claim has the places that it may claim for.
    this.letGo();
    await settled();
    const ready = batches.takeReady();
    if (!ready) return undefined;
    const call = parts.begin(ready.jobs.map(({ claim }) => runOf(claim)));
    this.last = call;
    batches.begin(ready);
    return call;
  }

  /** When the next call begins by time alone: its first job has then waited for `waitMs`. */
  get nextCall(): Instant | undefined {
    const next = this.batches?.collected.nextDue;
    if (!next) return undefined;
    const { name, id, queue } = runOf(next.first.claim).told;
    return {
      atMs: Math.ceil(next.at),
      because: () => `job '${name}' (${id}) of queue '${queue}' had waited for waitMs`,
    };
  }

  /** The conductor claims no more: what is to be told goes out. */
  letGo(): void {
    this.last = undefined;
    this.resume?.();
  }

  /** The run of a job that is handed out once more after this one; `undefined` where the job is no longer held. */
  openAgain(run: TestRun): TestRun | undefined {
    const fence = this.parts.queue.handOutAgain(run.claim);
    this.forget(run);
    return fence === undefined ? undefined : this.open({ ...run.claim, fence }, true);
  }

  /** Begins the call of a second delivery. */
  beginAgain(second: TestRun, { call: first }: TestRun): void {
    const call = this.parts.begin([second]);
    if (this.last === first) this.last = call;
    first!.second = call;
  }

  /** Nothing will be told of this run any more. */
  forget(run: TestRun): void {
    const at = this.runs.indexOf(run);
    if (at >= 0) this.runs.splice(at, 1);
  }

  /** The ids of jobs that a worker holds whose leases it renews. */
  held(): Set<string> {
    return new Set(this.runs.filter(({ isSettled }) => !isSettled).map(({ claim }) => claim.id));
  }

  private async claimOne(): Promise<void> {
    this.mayClaim = !this.parts.queue.outage.isOn;
    if (this.mayClaim) this.resume?.();
    while (this.mayClaim) {
      const { underWay } = this;
      await underWay;
      if (!this.mayClaim) break;
      this.hints?.look(0);
      // No turn goes out where the worker has no place free.
      if (this.underWay === underWay) this.mayClaim = false;
      else await this.underWay;
    }
  }

  private async take(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    if (this.last?.isOver && !this.mayClaim)
      await new Promise<void>((resolve) => {
        this.resume = resolve;
      });
    this.resume = undefined;
    const claims = this.mayClaim && turn.limit > 0;
    if (claims) this.mayClaim = false;
    const answer = await this.parts.session.turn(claims ? this.forNextJob(turn) : forNone(turn), signal);
    this.noteSettled(turn, answer);
    if (claims) {
      this.looksAgain = answer.sleepMs === 0;
      for (const claim of answer.claimed) this.noteClaimed(claim);
    }
    answer.sleepMs = Number.POSITIVE_INFINITY;
    answer.freesNothingForOthers = false;
    return answer;
  }

  private noteClaimed(claim: ClaimedJob): void {
    const run = this.open(claim, false);
    if (this.batchOf(run.told.name)) this.collected = run.told.name;
    else this.last = this.parts.begin([run]);
  }

  private batchOf(name: string) {
    return this.parts.handlers.get(name)?.settings.batch;
  }

  /** Whether others that are due are to join a job that was claimed just now. */
  private async fills(name: string): Promise<boolean> {
    const { collected } = this.batches!;
    if (!collected.any) {
      // The claim is large, so the job is not collected before a turn has confirmed it.
      this.letGo();
      await settled();
    }
    return this.batchOf(name)!.waitMs === 0 && collected.isFilling(name);
  }

  /** While a call fills, all that it has room for, and nothing else. */
  private forNextJob(turn: Turn): Turn {
    if (this.joining === undefined) return forOneJob(turn);
    const others = [...this.parts.handlers.keys()].filter((name) => name !== this.joining);
    const handlers = [
      ...turn.handlers.filter(({ name }) => name === this.joining).map(roomOfCall),
      ...others.map((name) => ({ name, weight: FITS, free: 0, size: 1 })),
    ];
    // A suspect waits for the call to end, as it would if one turn had claimed all of them.
    const suspects = turn.suspects === 'reserve' ? '' : turn.suspects;
    return { ...turn, handlers, suspects, limit: FITS };
  }

  private open(claim: ClaimedJob, isSecond: boolean): TestRun {
    const run = this.parts.open(claim, isSecond);
    this.runs.push(run);
    return run;
  }

  private noteSettled({ settlements }: Turn, { settled }: TurnAnswer): void {
    for (const [i, { id, fence, transition }] of settlements.entries()) {
      const run = this.runs.find(({ claim }) => claim.id === id && claim.fence === fence);
      if (!run) continue;
      // The job went back before its call began.
      if (transition === 'release' && !run.job) run.over();
      settledAs(run.told, settled[i]!);
      this.forget(run);
    }
  }
}

/**
 * With a limit of 1 a handler that is too heavy for what is free weighs 2: its job waits, and no lighter one goes before it. What joins a
 * call that fills takes no place.
 */
function forOneJob(turn: Turn): Turn {
  const handlers = turn.handlers.map(({ name, weight, free, size }) => {
    const fits = free % size !== 0 || weight <= turn.limit;
    return { name, weight: fits ? FITS : TOO_HEAVY, free, size: 1 };
  });
  return { ...turn, handlers, limit: FITS };
}

/** The call that fills, and no other. */
function roomOfCall({ free, size, ...handler }: HandlerCapacity): HandlerCapacity {
  return { ...handler, free: free % size, size };
}

/** A worker that is about to claim a suspect keeps its reservation until it may. */
function forNone(turn: Turn): Turn {
  if (turn.limit === 0) return turn;
  const wishes: Partial<Record<SuspectWish, SuspectWish>> = { claim: 'keep', take: '', reserve: '' };
  return { ...turn, limit: 0, suspects: wishes[turn.suspects] ?? turn.suspects };
}

import { expect } from '@jest/globals';
import { type Clock, SystemClock } from '../../lib/core/clock.js';
import type { ScheduledJob } from '../../lib/core/job/scheduled-job.js';
import { Observers } from '../../lib/core/observe/observers.js';
import type { BatchSettings } from '../../lib/core/options/batch-options.js';
import { readQueueOptions } from '../../lib/core/options/queue-options.js';
import { Codecs } from '../../lib/core/payload/codecs.js';
import { PayloadChecker } from '../../lib/core/payload/payload-class.js';
import type { ClaimedJob, Session, SessionHints, Turn, TurnAnswer } from '../../lib/store/job-store.js';
import { SuspectIsolation } from '../../lib/worker/capacity/suspect-isolation.js';
import { openWorker } from '../../lib/worker/handle/open-worker.js';
import type { QueueWorker } from '../../lib/worker/handle/queue-worker.js';
import { Caretakers } from '../../lib/worker/recur/caretakers.js';
import { Reporter } from '../../lib/worker/report/reporter.js';
import { StuckLog } from '../../lib/worker/report/stuck-log.js';
import type { BatchHandler, JobHandler } from '../../lib/worker/run/job-handler.js';
import { NextSteps } from '../../lib/worker/run/next-steps.js';
import type { ManualClock } from './manual-clock.js';
import { until } from './wait.js';

const NOTHING: Omit<TurnAnswer, 'settled'> = {
  lost: [],
  completions: [],
  toCancel: [],
  recovered: [],
  late: [],
  brokenJobs: [],
  deadDropped: [],
  claimed: [],
  isUnconfirmed: false,
  expired: [],
  isReplay: false,
  sleepMs: 60_000,
  isContended: false,
  isWhole: false,
  freesNothingForOthers: false,
  skippedOccurrences: [],
  tendInMs: undefined,
  toTend: [],
};
export const EVENTS = { wants: () => false, tell() {} };
export const LOG = { log() {}, warn() {}, error() {} };
/** For queues without recurrences. */
export const CARETAKERS = new Caretakers({ queue: () => undefined as never }, new SystemClock(), LOG);

interface Waiting {
  turn: Turn;
  resolve(answer: TurnAnswer): void;
  reject(error: Error): void;
}

/** A session whose turns are answered by hand. */
export class SessionByHand implements Session {
  readonly turns: Turn[] = [];
  hints?: SessionHints;
  private readonly waiting: Waiting[] = [];

  turn(turn: Turn): Promise<TurnAnswer> {
    this.turns.push(turn);
    return new Promise((resolve, reject) => this.waiting.push({ turn, resolve, reject }));
  }

  /** The turns that have not been answered, the one that was sent first before the others. */
  get underWay(): readonly Turn[] {
    return this.waiting.map(({ turn }) => turn);
  }

  /** Resolves with the last turn once so many have been sent; throws where there are more. */
  async next(count: number): Promise<Turn> {
    await until(`turn ${count}`, () => this.turns.length >= count);
    expect(this.turns).toHaveLength(count);
    return this.turns.at(-1)!;
  }

  /** Answers the turn that was sent first of those under way, as if it had been right in all it says. */
  answer(answer: Partial<TurnAnswer> = {}): void {
    this.answerTo(this.waiting[0]!.turn, answer);
  }

  answerTo(asked: Turn, answer: Partial<TurnAnswer>): void {
    const at = this.waiting.findIndex(({ turn }) => turn === asked);
    const [{ turn, resolve }] = this.waiting.splice(at, 1) as [Waiting];
    resolve({ ...NOTHING, settled: turn.settlements.map(() => 'counted'), ...answer });
  }

  refuse(error: Error): void {
    this.waiting.shift()!.reject(error);
  }

  listen(hints: SessionHints): void {
    this.hints = hints;
  }

  leave(): void {}
}

export const claimOf = (id: string): ClaimedJob => ({
  id,
  fence: '1',
  dueAtMs: 0,
  claimedAtMs: 0,
  attempt: 1,
  crashes: 0,
  envelope: { name: 'work', priority: 5, createdAtMs: 0, idWasChosen: false, tags: [], settings: {}, payload: 'null' },
});

/** Stops a worker at once, with no more claimed. `clock`: its own, where it stands still. */
export async function stopAt(session: SessionByHand, worker: QueueWorker, clock?: ManualClock): Promise<void> {
  await answerUntil(session, worker.stop(AbortSignal.abort()), clock);
}

/** Answers whatever is asked, with nothing, until the promise has resolved; time passes meanwhile. */
export async function answerUntil(session: SessionByHand, done: Promise<unknown>, clock?: ManualClock): Promise<void> {
  let isDone = false;
  void done.then(() => {
    isDone = true;
  });
  await until('all is answered', () => {
    while (session.underWay.length > 0) session.answer();
    clock?.pass(100);
    return isDone;
  });
}

let made = 0;
export const claimsOf = (count: number): ClaimedJob[] => Array.from({ length: count }, () => claimOf(`job-${++made}`));

export interface HandlerByHand {
  run?(payload: unknown, job: ScheduledJob): unknown;
  /** Gets several jobs a call. */
  runBatch?: BatchHandler['runBatch'];
  batch?: BatchSettings;
  /** How many may run at once; any number unless given. */
  concurrency?: number;
  maxAttempts?: number;
  weight?: number;
}

/** A worker of queue 'q' with one handler for 'work', and, where it gets several jobs a call, one for 'other' that gets one. */
export function workerAt(
  session: Session,
  { run, runBatch, batch, concurrency, maxAttempts = 1, weight = 1 }: HandlerByHand,
  options: object,
  {
    clock = new SystemClock(),
    isolation = new SuspectIsolation(clock),
    codecs = new Codecs(),
  }: { clock?: Clock; isolation?: SuspectIsolation; codecs?: Codecs } = {},
): QueueWorker {
  const settings = {
    maxAttempts,
    timeoutMs: 0,
    backoff: { type: 'fixed', delayMs: 0 },
    concurrency: concurrency ?? Number.POSITIVE_INFINITY,
    weight,
    batch,
  } as const;
  const ofWork = runBatch ? { runBatch, place: 'Work.all' } : { run };
  const handlers = new Map([['work', { name: 'work', settings, ...ofWork } as unknown as JobHandler]]);
  if (runBatch)
    handlers.set('other', { name: 'other', settings: { ...settings, weight: 1, batch: undefined }, run } as never);
  return openWorker({
    queue: 'q',
    session,
    handlers,
    settings: readQueueOptions('q', { leaseMs: 3_600_000, ...options }),
    results: undefined,
    steps: new NextSteps(clock, 1_000),
    codecs,
    checker: new PayloadChecker({}),
    events: EVENTS,
    observers: new Observers(),
    stuckLog: new StuckLog(LOG, clock, false),
    reporter: new Reporter(LOG, EVENTS, clock, { trackCurrentJob: false }),
    isolation,
    caretakers: CARETAKERS,
    clock,
    timerName: 'test',
  });
}

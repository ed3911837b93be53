import type { PayloadWriter } from '../../api/payload-writer.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob, JobStore, QueueStore, Session } from '../../store/job-store.js';
import { SuspectIsolation } from '../../worker/capacity/suspect-isolation.js';
import { Fleet } from '../../worker/handle/fleet.js';
import type { RunsParts } from '../../worker/handle/runs.js';
import type { InstanceParts } from '../../worker/instance-parts.js';
import type { Declarers } from '../../worker/recur/declarers.js';
import { HandlerRegistry } from '../../worker/run/job-handler.js';
import type { HandledJob } from '../look/unhandled.js';
import { envelopeOf } from '../store/job.js';
import type { MemoryJobStore } from '../store/memory-job-store.js';
import type { MemoryQueue } from '../store/memory-queue.js';
import type { Instant } from '../time/virtual-clock.js';
import { WorkersClock } from '../time/workers-clock.js';
import { ConductedSession } from './conducted-session.js';
import type { Conductor } from './conductor.js';
import { nextInstant } from './next-instant.js';
import { NO_EVENTS, NO_LOG, NO_QUEUE, SingleSession } from './single-session.js';
import { TestRun } from './test-run.js';
import { TestedHandlers } from './tested-handlers.js';
import { TestedRuns } from './tested-runs.js';

export interface TestFleetParts {
  readonly conductor: Conductor;
  readonly store: MemoryJobStore;
  readonly registry: HandlerRegistry;
  readonly checker: PayloadChecker;
  readonly payloads: PayloadWriter;
  readonly declarers: Declarers;
  readonly instance: InstanceParts;
}

/** What the workers of an application under test have in the place of their store: each queue, with its session. */
type Sessions = Map<string, { session: ConductedSession; queue: MemoryQueue }>;

/** The workers of an application under test: those of any application, which claim one job at a time, when the conductor says so. */
export class TestFleet extends Fleet {
  private readonly sessions: Sessions;
  private readonly workersClock: WorkersClock;
  private singles = 0;

  constructor(readonly parts: TestFleetParts) {
    const { conductor, store, registry, checker, declarers, instance } = parts;
    const clock = new WorkersClock(conductor.clock);
    const sessions: Sessions = new Map();
    const open = (name: string): QueueStore => {
      const opened = store.queue(name);
      const worker = (...given: Parameters<QueueStore['sessions']['worker']>) => {
        const queue = store.openedQueues().find((one) => one.name === name)!;
        const session = conductedSession(conductor, queue, opened.sessions.worker(...given));
        sessions.set(name, { session, queue });
        return session;
      };
      return { ...opened, sessions: { ...opened.sessions, worker } };
    };
    const openRuns = (runs: RunsParts) => new TestedRuns(runs, sessions.get(runs.queue)!.session, conductor.faults);
    const own = { ...instance, store: { queue: open } as JobStore, clock };
    super(own, new TestedHandlers(registry), checker, declarers, openRuns);
    this.sessions = sessions;
    this.workersClock = clock;
    conductor.fleets.push(this);
  }

  /** Those of its workers, in the order of their handlers. */
  get conducted(): ConductedSession[] {
    return [...this.sessions.values()].map(({ session }) => session);
  }

  /** How many jobs were claimed so far, by workers and by pops. */
  get claimed(): number {
    return this.parts.store.openedQueues().reduce((sum, { ledger }) => sum + (ledger.counters.get('started') ?? 0), 0);
  }

  /** When time alone changes something of its queues, and what. What becomes due while Redis is away runs once it is back. */
  *instants(): Generator<Instant> {
    for (const { session, queue } of this.sessions.values())
      if (!queue.outage.isOn) yield nextInstant(queue, session.held());
  }

  /** No time passes for it: handlers that sleep are woken by an error, and their jobs go back. */
  override stop(): Promise<void> {
    this.workersClock.standsStill = true;
    return super.stop().finally(() => {
      this.workersClock.standsStill = false;
      this.sessions.clear();
    });
  }

  /** Whether a handler of this application runs such jobs. */
  handles({ queue, name }: Pick<ScheduleRequest, 'queue' | 'name'>): boolean {
    return this.parts.registry.handlersOf(queue).has(name);
  }

  /** The jobs that the handlers of this application have. */
  handled(): HandledJob[] {
    const { registry } = this.parts;
    return registry
      .queueNames()
      .flatMap((queue) => [...registry.handlersOf(queue).keys()].map((name) => ({ name, queue })));
  }

  /** Runs a job that no queue knows, by a fleet of its own. `follow` is given its run, and resolves when that is over. */
  async single(
    request: ScheduleRequest,
    payload: unknown,
    attempt: number,
    dueAtMs: number | undefined,
    follow: (run: TestRun) => Promise<TestRun>,
  ): Promise<TestRun> {
    const { payloads, conductor, registry, checker, instance } = this.parts;
    await payloads.check(payload, request);
    await payloads.encode(payload, request);
    const nowMs = conductor.clock.wallNow();
    const id = request.id ?? `run-${++this.singles}`;
    const envelope = envelopeOf(request, nowMs, request.id !== undefined);
    const due = dueAtMs ?? nowMs;
    const fence = String(nowMs * 1_000 + this.singles);
    const claim = { id, fence, dueAtMs: due, claimedAtMs: Math.max(due, nowMs), attempt, crashes: 0, envelope };

    const handlers = new HandlerRegistry();
    handlers.add(registry.handlersOf(request.queue).get(request.name)!);
    const session = conductedSession(conductor, { name: request.queue, ...NO_QUEUE }, new SingleSession(claim));
    const clock = new WorkersClock(conductor.clock);
    const own = {
      ...instance,
      store: { queue: () => ({ sessions: { worker: () => session } }) } as unknown as JobStore,
      clock,
      events: NO_EVENTS,
      log: NO_LOG,
      timerPrefix: 'run',
      isolation: new SuspectIsolation(clock),
    };
    const openRuns = (runs: RunsParts) => new TestedRuns(runs, session, conductor.faults);
    const fleet = new Fleet(own, new TestedHandlers(handlers), checker, undefined, openRuns);
    await fleet.start();
    try {
      const { run } = await session.claim();
      return await follow(run!);
    } finally {
      clock.standsStill = true;
      await fleet.stop();
    }
  }
}

function conductedSession(
  { clock, faults, log, wakes }: Conductor,
  queue: Pick<MemoryQueue, 'name' | 'outage' | 'handOutAgain'>,
  session: Session,
): ConductedSession {
  const open = (claim: ClaimedJob, isSecond: boolean) => {
    const { id, attempt, dueAtMs, envelope } = claim;
    const name = isReadable(envelope) ? envelope.name : '';
    const startedAt = new Date(clock.wallNow());
    const told = { name, id, queue: queue.name, payload: undefined, attempt, dueAt: new Date(dueAtMs), startedAt };
    const fault = isSecond ? undefined : faults.take(told);
    const run = new TestRun(claim, fault, isSecond, told, clock, wakes);
    log.add(run.told);
    return run;
  };
  return new ConductedSession({ session, queue, open });
}

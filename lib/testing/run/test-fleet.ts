import type { PayloadWriter } from '../../api/payload-writer.js';
import type { EventSink } from '../../core/job/events.js';
import { FIRST_ALONE, FIRST_VERSION, type VersionRange } from '../../core/job/job-versions.js';
import type { Log } from '../../core/log.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { type Envelope, isReadable } from '../../store/envelope.js';
import type { ClaimedJob, JobStore, QueueStore, Session } from '../../store/job-store.js';
import { SuspectIsolation } from '../../worker/capacity/suspect-isolation.js';
import { Fleet, type SilentQueue } from '../../worker/handle/fleet.js';
import type { RunsParts } from '../../worker/handle/runs.js';
import type { InstanceParts } from '../../worker/instance-parts.js';
import type { Declarers } from '../../worker/recur/declarers.js';
import { HandlerRegistry, type JobHandler } from '../../worker/run/job-handler.js';
import type { TestedRun } from '../look/tested-run.js';
import type { HandledJob } from '../look/unhandled.js';
import { nextInstant } from '../redis/next-instant.js';
import { ProcessJobStore } from '../redis/process-job-store.js';
import type { QueueInside } from '../redis/queue-inside.js';
import type { Instant } from '../time/virtual-clock.js';
import { WorkersClock } from '../time/workers-clock.js';
import { ConductedSession } from './conducted-session.js';
import type { Conductor } from './conductor.js';
import { TestCall } from './test-call.js';
import { TestRun } from './test-run.js';
import { TestedHandlers } from './tested-handlers.js';
import { TestedRuns } from './tested-runs.js';

export interface TestFleetParts {
  readonly conductor: Conductor;
  readonly store: ProcessJobStore;
  readonly registry: HandlerRegistry;
  readonly checker: PayloadChecker;
  readonly payloads: PayloadWriter;
  readonly declarers: Declarers | undefined;
  readonly instance: InstanceParts;
}

/** What the workers of an application under test have in the place of their store: each queue, with its session. */
type Sessions = Map<string, { session: ConductedSession; queue: QueueInside }>;

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
        const queue = store.inside(name);
        const session = conductedSession(conductor, queue, registry, opened.sessions.worker(...given));
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
  }

  /** Those of its workers, in the order of their handlers. */
  get conducted(): ConductedSession[] {
    return [...this.sessions.values()].map(({ session }) => session);
  }

  /** How many jobs were claimed so far, by workers and by pops. */
  get claimed(): number {
    return this.parts.store.openedQueues().reduce((sum, { started }) => sum + started, 0);
  }

  /** When time alone changes something of its queues, and what. What becomes due while Redis is away runs once it is back. */
  *instants(): Generator<Instant> {
    for (const { session, queue } of this.sessions.values())
      if (!queue.outage.isOn) {
        yield nextInstant(queue, session.held());
        if (session.nextCall) yield session.nextCall;
      }
  }

  /** Its sessions speak when the conductor says so. */
  override silentQueues(): SilentQueue[] {
    return [];
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

  /** The versions of such jobs that their handler here runs. */
  versionsOf({ queue, name }: Pick<ScheduleRequest, 'queue' | 'name'>): VersionRange {
    return this.parts.registry.handlersOf(queue).get(name)?.versions ?? FIRST_ALONE;
  }

  /** The jobs that the handlers of this application have, whether it runs them or not. */
  handled(): HandledJob[] {
    return this.parts.registry
      .found()
      .map((job) => ({ name: job.name, queue: job.queue, runsHere: this.handles(job) }));
  }

  /**
   * Runs a job that no queue of the application knows, by a fleet and a store of its own. `follow` is given its call, and resolves when that
   * is over. Answers what is told of the run.
   */
  async single(
    request: ScheduleRequest,
    payload: unknown,
    attempt: number,
    dueAtMs: number | undefined,
    follow: (call: TestCall) => Promise<TestCall>,
  ): Promise<TestedRun> {
    const { payloads, conductor, registry, instance } = this.parts;
    await payloads.check(payload, request);
    await payloads.encode(payload, request);
    const { clock } = conductor;
    const at = dueAtMs ?? clock.wallNow();
    // There it is never earlier than the job is due, and no job is late.
    const now = () => Math.max(at, clock.wallNow());
    const store = new ProcessJobStore({ ...instance, clock: { now, wallNow: now } });
    const id = `run-${++this.singles}`;
    await store.queue(request.queue).jobs.schedule({ ...request, id, due: { at }, lateness: undefined });
    store.inside(request.queue).setAttempts(id, attempt - 1, clock.wallNow() * 1_000 + this.singles);

    const handlers = new HandlerRegistry();
    handlers.add(alone(registry.handlersOf(request.queue).get(request.name)!));
    const isolation = new SuspectIsolation(clock);
    const own = { ...instance, isolation, events: NO_EVENTS, log: NO_LOG };
    const fleet = new TestFleet({ ...this.parts, store, registry: handlers, declarers: undefined, instance: own });
    await fleet.start();
    try {
      const [session] = fleet.conducted as [ConductedSession];
      let { call } = await session.claim();
      // A job of a batch handler begins after its claim, and so does its second delivery.
      for (let next = call ?? (await session.beginReady()); next; next = await session.beginReady())
        call = await follow(next);
      return call!.runs[0]!.told;
    } finally {
      await fleet.stop();
    }
  }
}

/** A batch handler gets one job a call, which waits for no others. */
function alone(handler: JobHandler): JobHandler {
  if (!handler.runBatch) return handler;
  return { ...handler, settings: { ...handler.settings, batch: { size: 1, waitMs: 0 } } };
}

/** Listeners would hear that a single run started, and never what became of its job. */
const NO_EVENTS: EventSink = { wants: () => false, tell() {} };
const NO_LOG: Log = { log() {}, warn() {}, error() {} };

function conductedSession(
  { clock, faults, log, wakes }: Conductor,
  queue: QueueInside,
  registry: HandlerRegistry,
  session: Session,
): ConductedSession {
  const open = (claim: ClaimedJob, isSecond: boolean) => {
    const { id, attempt, dueAtMs, envelope } = claim;
    const name = isReadable(envelope) ? envelope.name : '';
    const { version = FIRST_VERSION } = envelope as Partial<Envelope>;
    const told = { name, version, id, queue: queue.name, payload: undefined, attempt, dueAt: new Date(dueAtMs) };
    return new TestRun(claim, isSecond, told, clock);
  };
  const begin = (runs: readonly TestRun[]) => {
    for (const run of runs) {
      run.begin(run.isSecond ? undefined : faults.take(run.told));
      log.add(run.told);
    }
    return new TestCall(runs, clock, wakes);
  };
  return new ConductedSession({ session, queue, handlers: registry.handlersOf(queue.name), open, begin });
}

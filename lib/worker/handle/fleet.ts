import type { Clock } from '../../core/clock.js';
import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import type { JobStore } from '../../store/job-store.js';
import { haveLimits } from '../capacity/places.js';
import type { SuspectIsolation } from '../capacity/suspect-isolation.js';
import type { Caretakers } from '../recur/caretakers.js';
import type { Declarers } from '../recur/declarers.js';
import { Reporter } from '../report/reporter.js';
import { StuckLog } from '../report/stuck-log.js';
import type { HandlerRegistry } from '../run/job-handler.js';
import { keptResults } from '../run/kept-json.js';
import { Deadline } from '../session/deadline.js';
import { drainedLine, waitingLine } from './drain-report.js';
import { openWorker } from './open-worker.js';
import type { QueueWorker } from './queue-worker.js';
import type { Runs, RunsParts } from './runs.js';

export interface FleetOptions {
  codecs: Codecs;
  workerId: string;
  shutdownTimeoutMs: number;
  trackCurrentJob: boolean;
  settingsOf(queue: string): QueueSettings;
  /** Also the most that is kept of a job's result. */
  maxPayloadBytes: number;
  /** What the names of this fleet's timers begin with. */
  timerPrefix: string;
  /** Shared by all that may hold jobs in this module instance. */
  isolation: SuspectIsolation;
  /** Shared likewise. */
  caretakers: Caretakers;
  /** What this process declares while its workers claim. */
  declarers?: Declarers;
  /** Makes the runs of a worker, for a test that watches them. */
  openRuns?: (parts: RunsParts) => Runs;
}

/** The workers of this process: one for each queue that has handlers. May be started and stopped again and again. */
export class Fleet {
  private workers: QueueWorker[] = [];
  private stopping?: Promise<void>;
  private deadline?: Deadline;
  /** How many handlers the present or last stop waits for. */
  waitsFor = 0;
  private closed = false;
  private readonly stuckLog: StuckLog;

  constructor(
    private readonly store: JobStore,
    private readonly registry: HandlerRegistry,
    private readonly checker: PayloadChecker,
    private readonly clock: Clock,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: FleetOptions,
  ) {
    this.stuckLog = new StuckLog(log, clock, options.trackCurrentJob);
  }

  /** Does nothing where it has started already. Throws `QueueClosedError` after `close`. */
  async start(): Promise<void> {
    await this.stopping;
    if (this.closed)
      throw new QueueClosedError(
        'start: the application is closing or has closed; its queues cannot be started again.',
      );
    if (this.workers.length > 0) return;
    this.workers = this.registry.queueNames().map((queue) => this.open(queue));
    for (const worker of this.workers) worker.start();
    this.options.declarers?.start();
  }

  /** Resolves within `shutdownTimeoutMs` and a second, whatever handlers or Redis do. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll().finally(() => {
      this.stopping = undefined;
    });
    return this.stopping;
  }

  /** Cuts short a stop that is under way: the running jobs go back at once. */
  stopWaiting(): void {
    this.deadline?.passNow();
  }

  /** Nothing can be started any more. */
  close(): void {
    this.closed = true;
  }

  private async stopAll(): Promise<void> {
    const { shutdownTimeoutMs: atMostMs } = this.options;
    const deadline = new Deadline(this.clock, atMostMs);
    this.deadline = deadline;
    this.options.declarers?.stop();
    const waitedFor = {
      running: this.workers.flatMap(({ runningNames }) => runningNames),
      stuck: this.workers.flatMap(({ stuck }) => stuck),
    };
    this.waitsFor = waitedFor.running.length + waitedFor.stuck.length;
    if (this.waitsFor > 0 && atMostMs > 0) this.log.log(waitingLine(waitedFor, atMostMs));
    const stopped = await Promise.all(this.workers.map((worker) => worker.stop(deadline.signal)));
    deadline.clear();
    this.workers = [];
    const drained = drainedLine(waitedFor, stopped);
    if (drained) this.log[drained.isComplete ? 'log' : 'warn'](drained.line);
  }

  private open(queue: string): QueueWorker {
    const { store, registry, checker, events, clock, log } = this;
    const { workerId, codecs, settingsOf, maxPayloadBytes, timerPrefix, isolation, caretakers, openRuns } =
      this.options;
    const settings = settingsOf(queue);
    const handlers = registry.handlersOf(queue);
    const weights = new Map([...handlers].map(([name, handler]) => [name, handler.settings.weight]));
    const names = { names: [...handlers.keys()], limited: haveLimits(handlers), weights };
    const { sessions } = store.queue(queue);
    return openWorker({
      queue,
      session: sessions.worker(workerId, names),
      handlers,
      settings,
      results: keptResults(settings, maxPayloadBytes),
      codecs,
      checker,
      events,
      reporter: new Reporter(log, events, clock, this.options),
      isolation,
      caretakers,
      stuckLog: this.stuckLog,
      clock,
      timerName: `${timerPrefix}:${queue}`,
      openRuns,
    });
  }
}

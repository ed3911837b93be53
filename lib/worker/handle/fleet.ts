import { QueueClosedError } from '../../core/errors.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import { haveLimits } from '../capacity/places.js';
import type { InstanceParts } from '../instance-parts.js';
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

/** A session that has been silent for so many times as long as an answer may take hears no more. */
const SILENT_TIMES = 2;

/** A queue from which a worker of this process has had no answer for too long. */
export interface SilentQueue {
  readonly queue: string;
  readonly silentMs: number;
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
    private readonly instance: InstanceParts,
    private readonly registry: HandlerRegistry,
    private readonly checker: PayloadChecker,
    /** What this process declares while its workers claim. */
    private readonly declarers?: Declarers,
    /** Makes the runs of a worker, for a test that watches them. */
    private readonly openRuns?: (parts: RunsParts) => Runs,
  ) {
    const { log, clock, trackCurrentJob } = instance;
    this.stuckLog = new StuckLog(log, clock, trackCurrentJob);
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
    this.declarers?.start();
  }

  /** Resolves within `shutdownTimeoutMs` and a second, whatever handlers or Redis do. */
  stop(): Promise<void> {
    this.stopping ??= this.stopAll().finally(() => {
      this.stopping = undefined;
    });
    return this.stopping;
  }

  /**
   * The queues from which a worker here has had no answer for twice as long as it may take: the longer of `maxSleepMs`, which it sleeps at
   * most, and `commandTimeoutMs`. Of the silence only the last `ranForMs` count, in which the process has run. None before the start and
   * while the workers stop.
   */
  silentQueues(ranForMs: number): SilentQueue[] {
    const { clock, commandTimeoutMs, settingsOf } = this.instance;
    return this.workers.flatMap(({ queue, unansweredSince }) => {
      const silentMs = Math.min(clock.now() - unansweredSince, ranForMs);
      const mostMs = SILENT_TIMES * Math.max(settingsOf(queue).maxSleepMs, commandTimeoutMs);
      return silentMs > mostMs ? [{ queue, silentMs }] : [];
    });
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
    const { shutdownTimeoutMs: atMostMs, clock, log } = this.instance;
    const deadline = new Deadline(clock, atMostMs);
    this.deadline = deadline;
    this.declarers?.stop();
    const waitedFor = {
      running: this.workers.flatMap(({ runningNames }) => runningNames),
      stuck: this.workers.flatMap(({ stuck }) => stuck),
    };
    this.waitsFor = waitedFor.running.length + waitedFor.stuck.length;
    if (this.waitsFor > 0 && atMostMs > 0) log.log(waitingLine(waitedFor, atMostMs));
    const stopped = await Promise.all(this.workers.map((worker) => worker.stop(deadline.signal)));
    deadline.clear();
    this.workers = [];
    const drained = drainedLine(waitedFor, stopped);
    if (drained) log[drained.isComplete ? 'log' : 'warn'](drained.line);
  }

  private open(queue: string): QueueWorker {
    const { instance, registry, checker, stuckLog, openRuns } = this;
    const { store, events, clock, log, workerId, maxPayloadBytes, timerPrefix } = instance;
    const settings = instance.settingsOf(queue);
    const handlers = registry.handlersOf(queue);
    const calls = new Map(
      [...handlers].map(([name, { settings }]) => [name, { weight: settings.weight, size: settings.batch?.size ?? 1 }]),
    );
    const versions = new Map([...handlers].flatMap(([name, { versions }]) => (versions ? [[name, versions]] : [])));
    const names = { names: [...handlers.keys()], limited: haveLimits(handlers), versions, calls };
    const { sessions } = store.queue(queue);
    return openWorker({
      ...instance,
      queue,
      session: sessions.worker(workerId, names),
      handlers,
      settings,
      results: keptResults(settings, maxPayloadBytes),
      checker,
      reporter: new Reporter(log, events, clock, instance),
      stuckLog,
      timerName: `${timerPrefix}:${queue}`,
      openRuns,
    });
  }
}

import type { PayloadWriter } from '../../api/payload-writer.js';
import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { ScheduleRequest } from '../../core/options/schedule-options.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import type { ModuleSettings } from '../../nest/module-options.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { haveLimits } from '../../worker/capacity/places.js';
import type { Fleet } from '../../worker/handle/fleet.js';
import type { Caretakers } from '../../worker/recur/caretakers.js';
import type { Declarers } from '../../worker/recur/declarers.js';
import { Reporter } from '../../worker/report/reporter.js';
import { abortReasons } from '../../worker/run/abort-reasons.js';
import type { HandlerRegistry } from '../../worker/run/job-handler.js';
import { keptResults } from '../../worker/run/kept-results.js';
import { ProgressKeeper } from '../../worker/run/progress-keeper.js';
import { type EndedRun, Settler } from '../../worker/run/settler.js';
import type { HandledJob } from '../look/unhandled.js';
import { envelopeOf } from '../store/job.js';
import type { MemoryJobStore } from '../store/memory-job-store.js';
import type { Conductor } from './conductor.js';
import { Runner } from './runner.js';
import type { RunOwner, TestRun } from './test-run.js';
import { type TestProcess, TestWorker } from './test-worker.js';

export interface TestFleetParts {
  readonly conductor: Conductor;
  readonly store: MemoryJobStore;
  readonly registry: HandlerRegistry;
  readonly checker: PayloadChecker;
  readonly payloads: PayloadWriter;
  readonly events: EventSink;
  readonly settings: ModuleSettings;
  readonly caretakers: Caretakers;
  readonly declarers: Declarers;
  readonly log: Log;
}

/** Stands where the module has its `Fleet`: its workers do nothing by themselves. */
export class TestFleet
  implements TestProcess, Pick<Fleet, 'start' | 'stop' | 'stopWaiting' | 'idle' | 'close' | 'waitsFor'>
{
  readonly waitsFor = 0;
  workers: TestWorker[] = [];
  private readonly runners = new Map<string, Runner>();
  private readonly singleRunners = new Map<string, Runner>();
  reservedFor?: object;
  private singles = 0;
  private isClosed = false;

  constructor(readonly parts: TestFleetParts) {
    parts.conductor.fleets.push(this);
  }

  get claimed(): number {
    return this.parts.store.openedQueues().reduce((sum, { ledger }) => sum + (ledger.counters.get('started') ?? 0), 0);
  }

  async start(): Promise<void> {
    if (this.isClosed)
      throw new QueueClosedError(
        'start: the application is closing or has closed; its queues cannot be started again.',
      );
    if (this.workers.length > 0) return;
    const { registry, declarers } = this.parts;
    this.workers = registry.queueNames().map((queue) => this.open(queue));
    for (const worker of this.workers) await worker.begin();
    declarers.start();
  }

  /** No time passes for it: handlers that sleep are woken by an error, and their jobs go back. */
  async stop(): Promise<void> {
    const workers = this.workers;
    this.workers = [];
    this.parts.declarers.stop();
    for (const worker of workers) await worker.close();
  }

  stopWaiting(): void {}

  async idle(): Promise<void> {}

  close(): void {
    this.isClosed = true;
  }

  /** Renews the leases of handlers that sleep. */
  async renew(): Promise<void> {
    for (const worker of this.workers) {
      if (worker.runs.size === 0) continue;
      worker.renewsNext = true;
      await worker.tell();
    }
  }

  /** Begins the run of a job that the worker of this queue has claimed. */
  begin(worker: TestWorker, claim: ClaimedJob): TestRun {
    const { maxCrashes } = this.parts.settings.settingsOf(worker.name);
    const isSuspect = maxCrashes > 1 && claim.crashes >= maxCrashes - 1;
    return this.runnerOf(worker.name).start(claim, worker, isSuspect);
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

  /** Begins a run of a job that no queue knows. */
  async single(request: ScheduleRequest, payload: unknown, attempt: number, dueAtMs?: number): Promise<TestRun> {
    const { payloads, conductor } = this.parts;
    await payloads.check(payload, request);
    await payloads.encode(payload, request);
    const nowMs = conductor.clock.wallNow();
    const id = request.id ?? `run-${++this.singles}`;
    const envelope = envelopeOf(request, nowMs, request.id !== undefined);
    const due = dueAtMs ?? nowMs;
    const fence = String(nowMs * 1_000 + this.singles);
    const claim = { id, fence, dueAtMs: due, claimedAtMs: Math.max(due, nowMs), attempt, crashes: 0, envelope };
    return this.singleRunnerOf(request.queue).start(claim, new SingleRun(this.settlerOf(request.queue)), false);
  }

  runs(): TestRun[] {
    return this.workers.flatMap(({ runs }) => [...runs]);
  }

  private open(queue: string): TestWorker {
    const { store, registry, settings, events, conductor, caretakers, log } = this.parts;
    const handlers = registry.handlersOf(queue);
    const names = { names: [...handlers.keys()], limited: haveLimits(handlers) };
    const { sessions } = store.queue(queue);
    const { clock } = conductor;
    return new TestWorker({
      queue: store.openedQueues().find(({ name }) => name === queue)!,
      session: sessions.worker(settings.workerId, names),
      handlers,
      settler: this.settlerOf(queue),
      reporter: new Reporter(log, events, clock, settings),
      caretakers,
      clock,
      process: this,
    });
  }

  private settlerOf(queue: string): Settler {
    const { registry, settings } = this.parts;
    const results = keptResults(settings.settingsOf(queue), settings.maxPayloadBytes);
    return new Settler(registry.handlersOf(queue), results);
  }

  private runnerOf(queue: string): Runner {
    const runner = this.runners.get(queue) ?? this.openRunner(queue, this.parts.events);
    this.runners.set(queue, runner);
    return runner;
  }

  private singleRunnerOf(queue: string): Runner {
    const runner = this.singleRunners.get(queue) ?? this.openRunner(queue, NO_EVENTS);
    this.singleRunners.set(queue, runner);
    return runner;
  }

  private openRunner(queue: string, events: EventSink): Runner {
    const { registry, settings, store, checker, conductor } = this.parts;
    const { clock, faults, log, wakes } = conductor;
    const reporter = new Reporter(this.parts.log, events, clock, settings);
    return new Runner({
      queue,
      handlers: registry.handlersOf(queue),
      settler: this.settlerOf(queue),
      codecs: settings.codecs,
      checker,
      events,
      progress: new ProgressKeeper(queue, store.queue(queue).jobs, reporter, clock, `progress:${queue}`),
      clock,
      faults,
      log,
      wakes,
    });
  }
}

/** Of a job that no queue knows no event is told: listeners would hear that it started, and never how it ended. */
const NO_EVENTS: EventSink = { wants: () => false, tell() {} };

/** Who has a run of a job that no queue knows: nobody is told of its end. */
class SingleRun implements RunOwner {
  readonly runs = new Set<TestRun>();

  constructor(private readonly settler: Settler) {}

  end(run: TestRun, ended: EndedRun): void {
    run.settle(ended);
  }

  release(run: TestRun): void {
    run.throwAway('released');
  }

  timeOut(run: TestRun): void {
    if (run.isSettled) return;
    const error = abortReasons.timeout(run.job!);
    run.settle(this.settler.failed(run.job!, error));
    run.job!.abandon(error);
  }

  loseLease(run: TestRun, reason?: Error): void {
    run.loseLease(reason);
  }

  claimAgain(claim: ClaimedJob): ClaimedJob {
    return { ...claim, fence: String(Number(claim.fence) + 1) };
  }
}

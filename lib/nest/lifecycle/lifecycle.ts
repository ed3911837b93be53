import { type BeforeApplicationShutdown, Inject, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PayloadWriter } from '../../api/payload-writer.js';
import type { ScheduledQueueEvents } from '../../api/scheduled-queue.events.js';
import type { Clock } from '../../core/clock.js';
import { PayloadChecker } from '../../core/payload/payload-class.js';
import type { JobStore } from '../../store/job-store.js';
import type { Fleet } from '../../worker/handle/fleet.js';
import { Pullers } from '../../worker/pull/pullers.js';
import { Declarers } from '../../worker/recur/declarers.js';
import { Relays } from '../../worker/relay/relays.js';
import { HandlerRegistry } from '../../worker/run/job-handler.js';
import { lastTurnMs } from '../../worker/session/turn-plan.js';
import { DeclaredRecurrences } from '../handlers/declared-recurrences.js';
import { HandlerExplorer } from '../handlers/handler.explorer.js';
import { unhandledOverrides } from '../job-overrides.js';
import type { ModuleSettings } from '../module-options.js';
import { LOG } from '../safe-log.js';
import { CLOCK, EVENTS, FLEET, SETTINGS, STORE } from '../tokens.js';
import { type Runner, RunPhase } from './run-phase.js';
import { connectAtStart, StartLog } from './start-log.js';
import { batchesBeyondLimits, shortTimes, unnamedQueues } from './start-warnings.js';

/** Ties one instance of the module to the application's life: explore at init, run in the run phase, close at the end. */
export class Lifecycle implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown, Runner {
  /** How much longer than `shutdownTimeoutMs` the workers took to stop. */
  private overdueMs = 0;

  constructor(
    @Inject(HandlerExplorer) private readonly explorer: HandlerExplorer,
    @Inject(HandlerRegistry) private readonly registry: HandlerRegistry,
    @Inject(PayloadChecker) private readonly checker: PayloadChecker,
    @Inject(PayloadWriter) private readonly payloads: PayloadWriter,
    @Inject(Declarers) private readonly declarers: Declarers,
    @Inject(FLEET) private readonly fleet: Fleet,
    @Inject(Pullers) private readonly pullers: Pullers,
    @Inject(Relays) private readonly relays: Relays,
    @Inject(STORE) private readonly store: JobStore,
    @Inject(EVENTS) private readonly events: ScheduledQueueEvents,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RunPhase) runPhase: RunPhase,
  ) {
    runPhase.add(this);
  }

  async onModuleInit(): Promise<void> {
    const { registry, settings } = this;
    const declared = new DeclaredRecurrences(settings.jobs);
    for (const sentence of this.explorer.explore(registry, declared)) LOG.warn(sentence);
    for (const { payload, place } of registry.found()) if (payload) await this.checker.prepare(payload, place);
    await declared.check(this.payloads);
    for (const sentence of unnamedQueues(settings.queues, registry)) LOG.warn(sentence);
    if (settings.role === 'producer') return;
    for (const sentence of shortTimes(settings, registry)) LOG.warn(sentence);
    for (const sentence of batchesBeyondLimits(settings, registry)) LOG.warn(sentence);
    for (const [queue, declarations] of await declared.declarations(this.payloads, settings.runsQueue))
      this.declarers.add(queue, declarations);
    new StartLog(LOG, settings, this.explorer.instanceName).handlers(registry, declared, this.clock.wallNow());
    const handled = registry.found().map(({ name }) => name);
    for (const sentence of unhandledOverrides(settings.jobs, handled)) LOG.warn(sentence);
  }

  async begin(): Promise<void> {
    connectAtStart(this.store, this.settings, this.registry);
    if (this.settings.role === 'producer' || !this.settings.autoStart) return;
    await this.fleet.start();
  }

  /** Drains while other modules, and the producer, can still be used. Nothing can be started any more. */
  async end(): Promise<void> {
    const from = performance.now();
    this.fleet.close();
    this.pullers.stop();
    await Promise.all([this.relays.stop(), this.fleet.stop()]);
    this.overdueMs = performance.now() - from - this.settings.shutdownTimeoutMs;
  }

  async endNow(): Promise<void> {
    this.fleet.stopWaiting();
    await this.pullers.close(lastTurnMs(0));
  }

  get waitsFor(): number {
    return this.fleet.waitsFor;
  }

  /** Before Nest waits for the connections of its HTTP server: a stream may be what one of them sends. */
  beforeApplicationShutdown(): void {
    this.events.endStreams();
  }

  async onApplicationShutdown(): Promise<void> {
    const from = performance.now();
    await this.pullers.close(lastTurnMs(this.overdueMs));
    await this.events.flush(lastTurnMs(this.overdueMs + performance.now() - from));
    await this.store.close();
    this.events.complete();
  }
}

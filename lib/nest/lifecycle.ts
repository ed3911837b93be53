import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { Log } from '../core/log.js';
import type { JobStore } from '../store/job-store.js';
import type { Fleet } from '../worker/fleet.js';
import type { HandlerRegistry } from '../worker/job-handler.js';
import type { Pullers } from '../worker/pullers.js';
import type { Relays } from '../worker/relays.js';
import { lastTurnMs } from '../worker/turn-plan.js';
import type { HandlerExplorer } from './handler.explorer.js';
import { type ModuleSettings, unhandledOverrides } from './module-options.js';
import type { ScheduledQueueEvents } from './scheduled-queue.events.js';
import { connectAtStart, StartLog } from './start-log.js';

type Bootstrapped = Partial<OnApplicationBootstrap>;

/** Ties the workers to the application's life: explore at init, claim after everybody's bootstrap, drain, close. */
export class Lifecycle implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  /** How much longer than `shutdownTimeoutMs` the workers took to stop. */
  private overdueMs = 0;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly explorer: HandlerExplorer,
    private readonly registry: HandlerRegistry,
    private readonly fleet: Fleet,
    private readonly pullers: Pullers,
    private readonly relays: Relays,
    private readonly store: JobStore,
    private readonly events: ScheduledQueueEvents,
    private readonly settings: ModuleSettings,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    if (this.settings.role === 'producer') return;
    this.explorer.explore(this.registry);
    const handled = this.registry.queueNames().flatMap((queue) => [...this.registry.handlersOf(queue).keys()]);
    new StartLog(this.log, this.settings, this.explorer.instanceName).handlers(this.registry);
    for (const sentence of unhandledOverrides(this.settings, handled)) this.log.warn(sentence);
  }

  /**
   * The hooks of a global module run first, and handlers may need what other modules' hooks prepare. The root module's own
   * hook is the last of all, so claiming begins right after it.
   */
  onApplicationBootstrap(): void {
    connectAtStart(this.store, this.settings, this.registry);
    if (this.settings.role === 'producer' || !this.settings.autoStart) return;
    const root = [...this.modules.values()].sort((a, b) => b.distance - a.distance).at(-1);
    const instance = root?.instance as Bootstrapped | undefined;
    if (!instance) {
      setImmediate(() => void this.fleet.start());
      return;
    }
    const hook = instance.onApplicationBootstrap;
    instance.onApplicationBootstrap = async () => {
      await hook?.call(instance);
      await this.fleet.start();
    };
  }

  /** Drains while other modules, and the producer, can still be used. */
  async onModuleDestroy(): Promise<void> {
    const from = performance.now();
    this.pullers.stop();
    await Promise.all([this.relays.stop(), this.fleet.stop()]);
    this.overdueMs = performance.now() - from - this.settings.shutdownTimeoutMs;
  }

  async onApplicationShutdown(): Promise<void> {
    this.fleet.close();
    await this.pullers.close(lastTurnMs(this.overdueMs));
    await this.store.close();
    this.events.complete();
  }
}

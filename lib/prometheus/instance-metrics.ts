import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../core/errors.js';
import { instanceNames, partOfInstance, requireInstance } from '../nest/instances.js';
import { CLOCK, DEFAULT_INSTANCE, EVENTS, OBSERVERS, STORE } from '../nest/tokens.js';
import { InstanceMeter } from './instance-meter.js';
import { jobNames } from './job-names.js';
import type { MetricsSettings } from './metrics-options.js';
import { RegistryMetrics } from './registry-metrics.js';
import { Source } from './source.js';

/**
 * Ties the metrics of one instance to the life of its application: it is counted from `onModuleInit` on, and read at scrapes from
 * `onApplicationBootstrap` until its handlers have ended.
 */
export class InstanceMetrics implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private metrics?: RegistryMetrics;
  private source?: Source;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly settings: MetricsSettings,
    private readonly where: string,
  ) {}

  onModuleInit(): void {
    const { modules, where } = this;
    const { instance, registry, jobNames: chosen } = this.settings;
    requireInstance(instanceNames(modules), instance, where, 'Say which one is measured');
    const observers = partOfInstance(modules, instance, OBSERVERS);
    if (observers.meter) throw measuredTwice(where, instance);
    const metrics = RegistryMetrics.of(registry);
    const meter = new InstanceMeter(metrics, jobNames(chosen, metrics.namesMet), this.labelOf);
    observers.meter = meter;
    // Ends with the events, when the application shuts down.
    partOfInstance(modules, instance, EVENTS).events$.subscribe((event) => meter.happened(event));
    this.metrics = metrics;
  }

  /** Not before: an application that fails to start never closes, and would be read for ever. */
  onApplicationBootstrap(): void {
    const { instance, queues } = this.settings;
    const store = partOfInstance(this.modules, instance, STORE);
    this.source = new Source(store, partOfInstance(this.modules, instance, CLOCK), queues, this.labelOf);
    this.metrics!.scrapes.add(this.source);
  }

  /** Connections close in the next phase, and a scrape in between would tell that Redis is away. */
  beforeApplicationShutdown(): void {
    if (this.source) this.metrics!.scrapes.remove(this.source);
  }

  private readonly labelOf = (queue: string): string => {
    const { instance } = this.settings;
    return instance === DEFAULT_INSTANCE ? queue : `${instance}/${queue}`;
  };
}

function measuredTwice(where: string, instance: string): InvalidOptionsError {
  const which = instance === DEFAULT_INSTANCE ? 'the instance without a name' : `the instance '${instance}'`;
  return new InvalidOptionsError(
    `${where}: got a second ScheduledQueueMetricsModule for ${which}, expected one: each job would be counted twice. Import it once, in the root module, or name another instance.`,
  );
}

import { type DynamicModule, Inject, Module, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Registry, RegistryContentType } from 'prom-client';
import { bareClass } from '../nest/instances.js';
import { InstanceMetrics } from './instance-metrics.js';
import { type MetricsSettings, readMetricsOptions, type ScheduledQueueMetricsOptions } from './metrics-options.js';

const WHERE = 'ScheduledQueueMetricsModule.forRoot';
const SETTINGS = Symbol('metrics settings');
const REGISTRY = Symbol('metrics registry');

/**
 * Measures one instance of `RedisScheduledQueueModule` for Prometheus, in a registry of prom-client, which the application lets be scraped.
 * Import it once for each instance. Needs the package prom-client.
 *
 * @example
 * ```ts
 * ScheduledQueueMetricsModule.forRoot({ queues: ['mail'], jobNames: ['mail.send'] });
 * ```
 */
@Module({})
export class ScheduledQueueMetricsModule {
  /** @internal Nest instantiates each imported module. */
  constructor(@Optional() @Inject(InstanceMetrics) metrics?: InstanceMetrics) {
    if (metrics === undefined)
      throw bareClass('ScheduledQueueMetricsModule', `${WHERE}(), once for each instance that is measured.`);
  }

  /**
   * Throws `InvalidOptionsError` for options that cannot be used. So does the start of the application where the instance is not there or is
   * measured twice, or the registry has metrics of these names from elsewhere.
   */
  static forRoot(options?: ScheduledQueueMetricsOptions): DynamicModule {
    const { registry, ...settings } = readMetricsOptions(options, WHERE);
    return {
      module: ScheduledQueueMetricsModule,
      // Hooks of global modules run first, so that what others schedule when they start is counted.
      global: true,
      providers: [
        // A value, so that `moduleIdGeneratorAlgorithm: 'deep-hash'` of Nest tells two modules apart. It would print the whole registry.
        { provide: SETTINGS, useValue: settings },
        { provide: REGISTRY, useFactory: () => registry },
        {
          provide: InstanceMetrics,
          inject: [ModulesContainer, SETTINGS, REGISTRY],
          useFactory: (
            modules: ModulesContainer,
            read: Omit<MetricsSettings, 'registry'>,
            into: Registry<RegistryContentType>,
          ) => new InstanceMetrics(modules, { ...read, registry: into }, WHERE),
        },
      ],
    };
  }
}

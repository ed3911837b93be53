import { type DynamicModule, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InstanceMetrics } from './instance-metrics.js';
import { readMetricsOptions, type ScheduledQueueMetricsOptions } from './metrics-options.js';

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
  /**
   * Throws `InvalidOptionsError` for options that cannot be used. So does the start of the application where the instance is not there or is
   * measured twice, or the registry has metrics of these names from elsewhere.
   */
  static forRoot(options?: ScheduledQueueMetricsOptions): DynamicModule {
    const where = 'ScheduledQueueMetricsModule.forRoot';
    const settings = readMetricsOptions(options, where);
    return {
      module: ScheduledQueueMetricsModule,
      providers: [
        {
          provide: InstanceMetrics,
          inject: [ModulesContainer],
          useFactory: (modules: ModulesContainer) => new InstanceMetrics(modules, settings, where),
        },
      ],
    };
  }
}

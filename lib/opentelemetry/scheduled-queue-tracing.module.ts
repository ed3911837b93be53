import { type DynamicModule, Inject, Module, type OnModuleInit, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../core/errors.js';
import { bareClass, instanceNames, partOfInstance, requireInstance } from '../nest/instances.js';
import { DEFAULT_INSTANCE, OBSERVERS } from '../nest/tokens.js';
import { wantsOldNames } from './attributes.js';
import { SpanTracer } from './span-tracer.js';
import { readTracingOptions, type ScheduledQueueTracingOptions, type TracingSettings } from './tracing-options.js';

const WHERE = 'ScheduledQueueTracingModule.forRoot';
const SETTINGS = Symbol('tracing settings');

/**
 * Traces one instance of `RedisScheduledQueueModule` by the global OpenTelemetry API: spans for calls that schedule, for runs and for
 * pops, whose context travels with the jobs. Without a registered SDK nothing is recorded. Needs the package `@opentelemetry/api`.
 *
 * @example
 * ```ts
 * ScheduledQueueTracingModule.forRoot({ linkAfterMs: '5m' });
 * ```
 */
@Module({})
export class ScheduledQueueTracingModule implements OnModuleInit {
  /** @internal Nest instantiates each imported module. */
  constructor(
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Optional() @Inject(SETTINGS) private readonly settings?: TracingSettings,
  ) {
    if (settings === undefined)
      throw bareClass('ScheduledQueueTracingModule', `${WHERE}(), once for each instance that is traced.`);
  }

  /**
   * Throws `InvalidOptionsError` for options that cannot be used. The application does not start, with the same error, if it has no
   * instance of that name, or if another tracing module traces it.
   */
  static forRoot(options: ScheduledQueueTracingOptions = {}): DynamicModule {
    const settings = readTracingOptions(options, WHERE);
    // Hooks of global modules run first, so that what others schedule when they start is traced.
    return {
      module: ScheduledQueueTracingModule,
      global: true,
      providers: [{ provide: SETTINGS, useValue: settings }],
    };
  }

  /** Nest calls it as the application starts. */
  onModuleInit(): void {
    const { instance, linkAfterMs } = this.settings!;
    const { modules } = this;
    requireInstance(instanceNames(modules), instance, WHERE, 'Say which one is traced');
    const observers = partOfInstance(modules, instance, OBSERVERS);
    if (observers.tracer) {
      const [which, remedy] =
        instance === DEFAULT_INSTANCE
          ? ['the one without a name', 'or give { instance } for another one']
          : [`'${instance}'`, 'or name another one'];
      throw new InvalidOptionsError(
        `${WHERE}: instance: got ${which}, which another ScheduledQueueTracingModule of this application traces already: each span would be there twice. Import one of them, ${remedy}.`,
      );
    }
    observers.tracer = new SpanTracer({ linkAfterMs, oldNames: wantsOldNames(process.env) });
  }
}

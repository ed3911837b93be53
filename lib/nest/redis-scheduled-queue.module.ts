import { ConfigurableModuleBuilder, type DynamicModule, Inject, Module, Optional } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { invalidOptions } from '../core/errors.js';
import { keyPart } from '../core/read/names.js';
import { flag, readOne } from '../core/read/shape.js';
import { requireOptionsSource } from './async-options.js';
import { bareClass, INSTANCE_NAME } from './instances.js';
import { ScheduledQueueRunPhaseModule } from './lifecycle/run-phase.js';
import type { RedisScheduledQueueModuleOptions } from './module-options.js';
import { providersOf } from './providers.js';
import { DEFAULT_INSTANCE, serviceTokens } from './tokens.js';

/** Options that place the module in the application; they stand beside the queue's own options. */
interface ModuleExtras {
  /** Whether every module can inject the services without importing this one. Default `true`. */
  isGlobal?: boolean;
  /** Tells several instances of the module apart; see `InjectScheduledQueue`. */
  name?: string;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<RedisScheduledQueueModuleOptions>()
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createScheduledQueueOptions')
    .setExtras<ModuleExtras>({ isGlobal: true, name: DEFAULT_INSTANCE }, defineModule)
    .build();

/** The token of what the application has said of an instance, still unread. */
export const GIVEN_OPTIONS = MODULE_OPTIONS_TOKEN;

/** A class for `useClass` and `useExisting`: it creates the module's options. */
export interface ScheduledQueueOptionsFactory {
  /** Called once for each instance of the module that names the class. What it throws, or rejects with, stops the start. */
  createScheduledQueueOptions(): RedisScheduledQueueModuleOptions | Promise<RedisScheduledQueueModuleOptions>;
}

function defineModule(definition: DynamicModule, { isGlobal, name }: ModuleExtras): DynamicModule {
  const instance = readOne(keyPart, name ?? DEFAULT_INSTANCE, 'RedisScheduledQueueModule: name', invalidOptions);
  const services = serviceTokens(instance);
  return {
    ...definition,
    global: readOne(flag, isGlobal ?? true, 'RedisScheduledQueueModule: isGlobal', invalidOptions),
    imports: [...(definition.imports ?? []), DiscoveryModule, ScheduledQueueRunPhaseModule],
    providers: [...(definition.providers ?? []), ...providersOf(instance, services, MODULE_OPTIONS_TOKEN)],
    exports: Object.values(services),
  };
}

/**
 * The module. Import it once with `forRoot(options)` or `forRootAsync({ useFactory | useClass | useExisting, … })`, or several times,
 * each with its own `name`. It is global unless you give `isGlobal: false`. It exports `ScheduledQueueProducer`,
 * `ScheduledQueueConsumer`, `ScheduledQueueInspector` and `ScheduledQueueEvents`. It connects to Redis in the background once the
 * application has started; the start does not wait for Redis.
 *
 * @example
 * ```ts
 * RedisScheduledQueueModule.forRoot({ connection: 'redis://localhost:6379', prefix: 'shop' });
 * ```
 */
@Module({})
export class RedisScheduledQueueModule extends ConfigurableModuleClass {
  /**
   * @internal Nest instantiates each imported module. Only `forRoot` and `forRootAsync` provide `INSTANCE_NAME`; without it the bare class
   * was imported.
   */
  constructor(@Optional() @Inject(INSTANCE_NAME) instanceName?: string) {
    super();
    if (instanceName === undefined)
      throw bareClass(
        'RedisScheduledQueueModule',
        'RedisScheduledQueueModule.forRoot({ … }) or forRootAsync({ … }), once, in the root module. Other modules need not import it: it is global unless you give isGlobal: false.',
      );
  }

  /** Options that are known at once. Without any, Redis is at localhost. Throws `InvalidOptionsError` at the start for one that cannot be used. */
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    // biome-ignore lint/complexity/noThisInStatic: the builder makes a module of the class that it is called on
    return super.forRoot(options);
  }

  /**
   * Options that a factory or class makes, also of a promise. Throws `InvalidOptionsError` at once without `useFactory`, `useClass` or
   * `useExisting`, otherwise as `forRoot`. `isGlobal` and `name` stand beside it, not in what it makes.
   */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    requireOptionsSource(options);
    // biome-ignore lint/complexity/noThisInStatic: the builder makes a module of the class that it is called on
    return super.forRootAsync(options);
  }
}

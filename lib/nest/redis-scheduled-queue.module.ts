import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  type InjectionToken,
  Module,
  type Provider,
} from '@nestjs/common';
import {
  DiscoveryModule,
  DiscoveryService,
  ExternalContextCreator,
  MetadataScanner,
  ModulesContainer,
} from '@nestjs/core';
import { PayloadWriter } from '../api/payload-writer.js';
import { ScheduledQueueConsumer } from '../api/scheduled-queue.consumer.js';
import { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { InvalidOptionsError } from '../core/errors.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import { describe } from '../core/read/describe.js';
import { keyPart } from '../core/read/names.js';
import type { JobStore } from '../store/job-store.js';
import { RedisJobStore } from '../store/redis/redis-job-store.js';
import { Solitude } from '../worker/capacity/solitude.js';
import { Fleet } from '../worker/handle/fleet.js';
import { Pullers } from '../worker/pull/pullers.js';
import { Relays } from '../worker/relay/relays.js';
import { HandlerRegistry } from '../worker/run/job-handler.js';
import { requireOptionsSource } from './async-options.js';
import { HandlerExplorer } from './handlers/handler.explorer.js';
import { HandlerContext } from './handlers/handler-context.js';
import { INSTANCE_NAME } from './instances.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { RunPhase, ScheduledQueueRunPhaseModule } from './lifecycle/run-phase.js';
import { StartLog } from './lifecycle/start-log.js';
import { type ModuleSettings, type RedisScheduledQueueModuleOptions, readModuleOptions } from './module-options.js';
import { safeLog } from './safe-log.js';
import { findTimers } from './scheduler-timers.js';
import { DEFAULT_INSTANCE, getScheduledQueueToken } from './tokens.js';

/** What is said beside the options: how the module stands in the application. */
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

/** What `useClass` and `useExisting` name: a class that makes the module's options. */
export interface ScheduledQueueOptionsFactory {
  createScheduledQueueOptions(): RedisScheduledQueueModuleOptions | Promise<RedisScheduledQueueModuleOptions>;
}

/** Private to each instance of the module: none of these is exported. */
const SETTINGS = Symbol('settings');
const STORE = Symbol('store');
const FLEET = Symbol('fleet');
const SOLITUDE = Symbol('solitude');
const LOG = safeLog('ScheduledQueue');

function defineModule(definition: DynamicModule, { isGlobal, name }: ModuleExtras): DynamicModule {
  const checked = keyPart(name ?? DEFAULT_INSTANCE);
  if ('problem' in checked) throw new InvalidOptionsError(`RedisScheduledQueueModule: name: ${checked.problem}.`);
  if (isGlobal !== undefined && typeof isGlobal !== 'boolean') {
    throw new InvalidOptionsError(
      `RedisScheduledQueueModule: isGlobal: got ${describe(isGlobal)}, expected true or false.`,
    );
  }
  const services = serviceTokens(checked.value);
  return {
    ...definition,
    global: isGlobal ?? true,
    imports: [...(definition.imports ?? []), DiscoveryModule, ScheduledQueueRunPhaseModule],
    providers: [...(definition.providers ?? []), ...providersOf(checked.value, services)],
    exports: Object.values(services),
  };
}

function serviceTokens(name: string) {
  return {
    producer: getScheduledQueueToken(ScheduledQueueProducer, name) as InjectionToken,
    consumer: getScheduledQueueToken(ScheduledQueueConsumer, name) as InjectionToken,
    inspector: getScheduledQueueToken(ScheduledQueueInspector, name) as InjectionToken,
    events: getScheduledQueueToken(ScheduledQueueEvents, name) as InjectionToken,
  };
}

function providersOf(name: string, services: ReturnType<typeof serviceTokens>): Provider[] {
  const timerPrefix = name === DEFAULT_INSTANCE ? 'scheduled-queue' : `scheduled-queue(${name})`;
  return [
    {
      provide: SETTINGS,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (options: unknown) => readModuleOptions(options, 'RedisScheduledQueueModule'),
    },
    { provide: INSTANCE_NAME, useValue: name },
    { provide: services.events, useFactory: () => new ScheduledQueueEvents() },
    {
      provide: STORE,
      inject: [SETTINGS],
      useFactory: (settings: ModuleSettings) =>
        new RedisJobStore({ ...settings, log: LOG, reached: new StartLog(LOG, settings, name).connected }),
    },
    {
      provide: PayloadChecker,
      inject: [SETTINGS],
      useFactory: ({ validation }: ModuleSettings) => new PayloadChecker(validation),
    },
    { provide: HandlerRegistry, useFactory: () => new HandlerRegistry() },
    { provide: SOLITUDE, useFactory: () => new Solitude() },
    {
      provide: services.producer,
      inject: [STORE, PayloadChecker, services.events, SETTINGS],
      useFactory: (
        store: JobStore,
        checker: PayloadChecker,
        events: ScheduledQueueEvents,
        { codecs, maxPayloadBytes }: ModuleSettings,
      ) => new ScheduledQueueProducer(store, new PayloadWriter(codecs, checker, maxPayloadBytes), events, LOG),
    },
    {
      provide: services.inspector,
      inject: [STORE, services.events, SETTINGS],
      useFactory: (store: JobStore, events: ScheduledQueueEvents, { settingsOf, codecs }: ModuleSettings) =>
        new ScheduledQueueInspector(store, events, settingsOf, codecs),
    },
    {
      provide: FLEET,
      inject: [STORE, HandlerRegistry, PayloadChecker, DiscoveryService, services.events, SETTINGS, SOLITUDE],
      useFactory: (
        store: JobStore,
        registry: HandlerRegistry,
        checker: PayloadChecker,
        discovery: DiscoveryService,
        events: ScheduledQueueEvents,
        settings: ModuleSettings,
        solitude: Solitude,
      ) =>
        new Fleet(store, registry, checker, () => findTimers(discovery), events, LOG, {
          ...settings,
          timerPrefix,
          solitude,
        }),
    },
    ...[Pullers, Relays].map((Kind) => ({
      provide: Kind,
      inject: [STORE, DiscoveryService, services.events, SETTINGS, SOLITUDE],
      useFactory: (
        store: JobStore,
        discovery: DiscoveryService,
        events: ScheduledQueueEvents,
        settings: ModuleSettings,
        solitude: Solitude,
      ) => new Kind(store, () => findTimers(discovery), events, LOG, { ...settings, timerPrefix, solitude }),
    })),
    {
      provide: services.consumer,
      inject: [FLEET, Pullers, Relays, SETTINGS],
      useFactory: (fleet: Fleet, pullers: Pullers, relays: Relays, { role }: ModuleSettings) =>
        new ScheduledQueueConsumer(fleet, pullers, relays, role),
    },
    {
      provide: Lifecycle,
      inject: [
        SETTINGS,
        RunPhase,
        STORE,
        HandlerRegistry,
        PayloadChecker,
        FLEET,
        Pullers,
        Relays,
        services.events,
        DiscoveryService,
        MetadataScanner,
        ModulesContainer,
        ExternalContextCreator,
      ],
      useFactory: (
        settings: ModuleSettings,
        runPhase: RunPhase,
        store: JobStore,
        registry: HandlerRegistry,
        checker: PayloadChecker,
        fleet: Fleet,
        pullers: Pullers,
        relays: Relays,
        events: ScheduledQueueEvents,
        discovery: DiscoveryService,
        scanner: MetadataScanner,
        modules: ModulesContainer,
        creator: ExternalContextCreator,
      ) => {
        const context = new HandlerContext(creator, settings.inheritAppConfig);
        const explorer = new HandlerExplorer(discovery, scanner, modules, context, settings, name);
        const lifecycle = new Lifecycle(
          explorer,
          registry,
          checker,
          fleet,
          pullers,
          relays,
          store,
          events,
          settings,
          LOG,
        );
        runPhase.add(lifecycle);
        return lifecycle;
      },
    },
  ];
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
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    // biome-ignore lint/complexity/noThisInStatic: the builder makes a module of the class that it is called on
    return super.forRoot(options);
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    requireOptionsSource(options);
    // biome-ignore lint/complexity/noThisInStatic: the builder makes a module of the class that it is called on
    return super.forRootAsync(options);
  }
}

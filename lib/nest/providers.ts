import type { InjectionToken, Provider } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { PayloadWriter } from '../api/payload-writer.js';
import { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import type { Clock } from '../core/clock.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import type { JobStore } from '../store/job-store.js';
import { RedisJobStore } from '../store/redis/redis-job-store.js';
import { ApplicationClock } from './application-clock.js';
import { EventExplorer } from './events/event.explorer.js';
import { JobEventListeners } from './events/job-event-listeners.js';
import { HandlerExplorer } from './handlers/handler.explorer.js';
import { INSTANCE_NAME } from './instances.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { StartLog } from './lifecycle/start-log.js';
import { type ModuleSettings, readModuleOptions } from './module-options.js';
import { LOG } from './safe-log.js';
import { CLOCK, EVENTS, SETTINGS, type ServiceTokens, STORE } from './tokens.js';
import { workingProviders } from './working-providers.js';

/** All that an instance of the module is made of. `options`: the token of what the application has said. */
export function providersOf(name: string, services: ServiceTokens, options: InjectionToken): Provider[] {
  return [
    {
      provide: SETTINGS,
      inject: [options],
      useFactory: (given: unknown) => readModuleOptions(given, 'RedisScheduledQueueModule'),
    },
    { provide: INSTANCE_NAME, useValue: name },
    storeProvider(name),
    CLOCK_PROVIDER,
    ...producingProviders(services),
    ...workingProviders(name, services),
    HandlerExplorer,
    Lifecycle,
    EventExplorer,
    JobEventListeners,
  ];
}

function storeProvider(name: string): Provider {
  return {
    provide: STORE,
    inject: [SETTINGS],
    useFactory: (settings: ModuleSettings): JobStore =>
      new RedisJobStore({ ...settings, log: LOG, reached: new StartLog(LOG, settings, name).connected }),
  };
}

const CLOCK_PROVIDER: Provider = {
  provide: CLOCK,
  inject: [DiscoveryService],
  useFactory: (discovery: DiscoveryService): Clock => new ApplicationClock(discovery),
};

/** What schedules and inspects, and so needs no handlers. */
function producingProviders(services: ServiceTokens): Provider[] {
  return [
    {
      provide: services.events,
      inject: [STORE, CLOCK, SETTINGS],
      useFactory: (store: JobStore, clock: Clock, { queues }: ModuleSettings) => {
        const streamed = [...queues].flatMap(([queue, { streamEvents }]) => (streamEvents ? [queue] : []));
        return new ScheduledQueueEvents(store, clock, new Set(streamed));
      },
    },
    { provide: EVENTS, useExisting: services.events },
    {
      provide: PayloadChecker,
      inject: [SETTINGS],
      useFactory: ({ validation }: ModuleSettings) => new PayloadChecker(validation),
    },
    {
      provide: PayloadWriter,
      inject: [PayloadChecker, SETTINGS],
      useFactory: (checker: PayloadChecker, { codecs, maxPayloadBytes }: ModuleSettings) =>
        new PayloadWriter(codecs, checker, maxPayloadBytes),
    },
    {
      provide: services.producer,
      inject: [STORE, PayloadWriter, services.events, SETTINGS],
      useFactory: (
        store: JobStore,
        payloads: PayloadWriter,
        events: ScheduledQueueEvents,
        { codecs }: ModuleSettings,
      ) => new ScheduledQueueProducer(store, payloads, events, codecs, LOG),
    },
    {
      provide: services.inspector,
      inject: [STORE, services.events, SETTINGS],
      useFactory: (store: JobStore, events: ScheduledQueueEvents, { settingsOf, codecs }: ModuleSettings) =>
        new ScheduledQueueInspector(store, events, settingsOf, codecs),
    },
  ];
}

/** What starts and ends them with the application. */

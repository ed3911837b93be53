import type { InjectionToken, Provider } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { PayloadWriter } from '../api/payload-writer.js';
import { ScheduledQueueConsumer } from '../api/scheduled-queue.consumer.js';
import { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { Observers } from '../core/observe/observers.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import { noteRedaction } from '../core/payload/redaction.js';
import { RedisJobStore } from '../store/redis/redis-job-store.js';
import { SuspectIsolation } from '../worker/capacity/suspect-isolation.js';
import { Fleet } from '../worker/handle/fleet.js';
import type { InstanceParts } from '../worker/instance-parts.js';
import { Pullers } from '../worker/pull/pullers.js';
import { Caretakers } from '../worker/recur/caretakers.js';
import { Declarers } from '../worker/recur/declarers.js';
import { Relays } from '../worker/relay/relays.js';
import { HandlerRegistry } from '../worker/run/job-handler.js';
import { ApplicationClock } from './application-clock.js';
import { EventExplorer } from './events/event.explorer.js';
import { JobEventListeners } from './events/job-event-listeners.js';
import { HandlerExplorer } from './handlers/handler.explorer.js';
import { INSTANCE_NAME } from './instances.js';
import { Lifecycle } from './lifecycle/lifecycle.js';
import { StartLog } from './lifecycle/start-log.js';
import { readModuleOptions } from './module-options.js';
import { provide } from './provide.js';
import { LOG } from './safe-log.js';
import {
  CLOCK,
  DEFAULT_INSTANCE,
  EVENTS,
  FLEET,
  INSTANCE_PARTS,
  OBSERVERS,
  SETTINGS,
  type ServiceTokens,
  STORE,
} from './tokens.js';

/** All that an instance of the module is made of. `options`: the token of what the application has said. */
export function providersOf(name: string, services: ServiceTokens, options: InjectionToken): Provider[] {
  return [
    {
      provide: SETTINGS,
      inject: [options],
      useFactory: (given: unknown) => readModuleOptions(given, 'RedisScheduledQueueModule'),
    },
    { provide: INSTANCE_NAME, useValue: name },
    provide(STORE, [SETTINGS, OBSERVERS], (settings, observers) => {
      const reached = new StartLog(LOG, settings, name).connected;
      return new RedisJobStore({ ...settings, observers, log: LOG, reached });
    }),
    provide(CLOCK, [DiscoveryService], (discovery) => new ApplicationClock(discovery)),
    { provide: EVENTS, useExisting: services.events },
    { provide: OBSERVERS, useFactory: () => new Observers() },
    ...producingProviders(services),
    ...workingProviders(name, services),
    HandlerExplorer,
    Lifecycle,
    EventExplorer,
    JobEventListeners,
  ];
}

/** What schedules and inspects, and so needs no handlers. */
function producingProviders(services: ServiceTokens): Provider[] {
  return [
    provide(services.events, [STORE, CLOCK, SETTINGS], (store, clock, { queues }) => {
      const streamed = [...queues].flatMap(([queue, { streamEvents }]) => (streamEvents ? [queue] : []));
      return new ScheduledQueueEvents(store, clock, new Set(streamed));
    }),
    provide(PayloadChecker, [SETTINGS], ({ validation, redaction }) => new PayloadChecker(validation, redaction)),
    provide(PayloadWriter, [PayloadChecker, SETTINGS], (checker, { codecs, maxPayloadBytes }) => {
      return new PayloadWriter(codecs, checker, maxPayloadBytes);
    }),
    provide(
      services.producer,
      [STORE, PayloadWriter, EVENTS, OBSERVERS, SETTINGS, CLOCK],
      (store, payloads, events, observers, { codecs }, clock) => {
        return new ScheduledQueueProducer(store.confirmed, payloads, events, codecs, LOG, observers, clock);
      },
    ),
    provide(services.inspector, [STORE, EVENTS, SETTINGS], (store, events, { settingsOf, codecs, redaction }) => {
      return noteRedaction(new ScheduledQueueInspector(store, events, settingsOf, codecs), redaction);
    }),
  ];
}

/** What runs, hands out and moves jobs. */
function workingProviders(name: string, services: ServiceTokens): Provider[] {
  const timerPrefix = name === DEFAULT_INSTANCE ? 'scheduled-queue' : `scheduled-queue(${name})`;
  return [
    provide(HandlerRegistry, [SETTINGS], ({ trackCurrentJob, runsQueue }) => {
      return new HandlerRegistry(trackCurrentJob, runsQueue);
    }),
    provide(
      INSTANCE_PARTS,
      [STORE, CLOCK, EVENTS, OBSERVERS, SETTINGS],
      (store, clock, events, observers, settings): InstanceParts => {
        const isolation = new SuspectIsolation(clock);
        const caretakers = new Caretakers(store, clock, LOG);
        return { ...settings, store, clock, events, observers, log: LOG, isolation, caretakers, timerPrefix };
      },
    ),
    provide(Declarers, [STORE, CLOCK, SETTINGS], (store, clock, settings) => {
      return new Declarers(store, clock, LOG, settings);
    }),
    provide(FLEET, [INSTANCE_PARTS, HandlerRegistry, PayloadChecker, Declarers], (...parts) => new Fleet(...parts)),
    provide(Pullers, [INSTANCE_PARTS], (instance) => new Pullers(instance)),
    provide(Relays, [INSTANCE_PARTS], (instance) => new Relays(instance)),
    provide(services.consumer, [FLEET, Pullers, Relays, SETTINGS], (fleet, pullers, relays, { role }) => {
      return new ScheduledQueueConsumer(fleet, pullers, relays, role);
    }),
  ];
}

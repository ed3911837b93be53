import type { Provider } from '@nestjs/common';
import { ScheduledQueueConsumer } from '../api/scheduled-queue.consumer.js';
import type { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import type { Clock } from '../core/clock.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import type { JobStore } from '../store/job-store.js';
import { SuspectIsolation } from '../worker/capacity/suspect-isolation.js';
import { Fleet } from '../worker/handle/fleet.js';
import type { InstanceParts } from '../worker/instance-parts.js';
import { Pullers } from '../worker/pull/pullers.js';
import { Caretakers } from '../worker/recur/caretakers.js';
import { Declarers } from '../worker/recur/declarers.js';
import { Relays } from '../worker/relay/relays.js';
import { HandlerRegistry } from '../worker/run/job-handler.js';
import type { ModuleSettings } from './module-options.js';
import { LOG } from './safe-log.js';
import { CLOCK, DEFAULT_INSTANCE, FLEET, INSTANCE_PARTS, SETTINGS, type ServiceTokens, STORE } from './tokens.js';

/** What runs, hands out and moves jobs. */
export function workingProviders(name: string, services: ServiceTokens): Provider[] {
  const timerPrefix = name === DEFAULT_INSTANCE ? 'scheduled-queue' : `scheduled-queue(${name})`;
  return [
    {
      provide: HandlerRegistry,
      inject: [SETTINGS],
      useFactory: ({ trackCurrentJob }: ModuleSettings) => new HandlerRegistry(trackCurrentJob),
    },
    {
      provide: INSTANCE_PARTS,
      inject: [STORE, CLOCK, services.events, SETTINGS],
      useFactory: (
        store: JobStore,
        clock: Clock,
        events: ScheduledQueueEvents,
        settings: ModuleSettings,
      ): InstanceParts => ({
        ...settings,
        store,
        clock,
        events,
        log: LOG,
        isolation: new SuspectIsolation(clock),
        caretakers: new Caretakers(store, clock, LOG),
        timerPrefix,
      }),
    },
    {
      provide: Declarers,
      inject: [STORE, CLOCK, SETTINGS],
      useFactory: (store: JobStore, clock: Clock, settings: ModuleSettings) =>
        new Declarers(store, clock, LOG, settings),
    },
    {
      provide: FLEET,
      inject: [INSTANCE_PARTS, HandlerRegistry, PayloadChecker, Declarers],
      useFactory: (instance: InstanceParts, registry: HandlerRegistry, checker: PayloadChecker, declarers: Declarers) =>
        new Fleet(instance, registry, checker, declarers),
    },
    ...[Pullers, Relays].map((Kind) => ({
      provide: Kind,
      inject: [INSTANCE_PARTS],
      useFactory: (instance: InstanceParts) => new Kind(instance),
    })),
    {
      provide: services.consumer,
      inject: [FLEET, Pullers, Relays, SETTINGS],
      useFactory: (fleet: Fleet, pullers: Pullers, relays: Relays, { role }: ModuleSettings) =>
        new ScheduledQueueConsumer(fleet, pullers, relays, role),
    },
  ];
}

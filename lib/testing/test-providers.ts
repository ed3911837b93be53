import type { InjectionToken } from '@nestjs/common';
import { PayloadWriter } from '../api/payload-writer.js';
import type { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { InvalidOptionsError, invalidOptions } from '../core/errors.js';
import { PayloadChecker } from '../core/payload/payload-class.js';
import { describe } from '../core/read/describe.js';
import { instant } from '../core/read/due.js';
import { readOne } from '../core/read/shape.js';
import { type ModuleSettings, readModuleOptions } from '../nest/module-options.js';
import { GIVEN_OPTIONS } from '../nest/redis-scheduled-queue.module.js';
import { CLOCK, EVENTS, FLEET, INSTANCE_PARTS, SETTINGS, STORE } from '../nest/tokens.js';
import type { InstanceParts } from '../worker/instance-parts.js';
import { Pullers } from '../worker/pull/pullers.js';
import { Declarers } from '../worker/recur/declarers.js';
import { HandlerRegistry } from '../worker/run/job-handler.js';
import { layOver } from './lay-over.js';
import { ProcessJobStore } from './redis/process-job-store.js';
import type { Conductor } from './run/conductor.js';
import { TestFleet } from './run/test-fleet.js';
import { TestedInstance } from './run/tested-instance.js';
import { TestedPullers } from './run/tested-pullers.js';

/** When virtual time begins: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. */
export type StartOfTime = Date | number | string;

/** The options of the module that are about Redis alone. */
export const OPTIONS_OF_REDIS: readonly string[] = ['connection', 'minReplicas'];

/** What moves the time of an application, and the instances of the module in it. */
export const CONDUCTOR = Symbol('conductor');
export const INSTANCES = Symbol('instances');

interface TestProvider {
  provide: InjectionToken;
  inject: InjectionToken[];
  // biome-ignore lint/suspicious/noExplicitAny: each factory knows what it injects
  useFactory: (...injected: any[]) => unknown;
}

/** What stands in the place of the real providers of each instance: memory, virtual time, and workers that are told when to work. */
export function testProviders(where: string, now: StartOfTime | undefined, laidOver: object = {}): TestProvider[] {
  const startMs = now === undefined ? undefined : readNow(now, where);
  return [
    {
      provide: SETTINGS,
      inject: [GIVEN_OPTIONS],
      useFactory: (given: unknown) =>
        readModuleOptions(layOver(withoutOptionsOfRedis(given), laidOver), 'RedisScheduledQueueModule'),
    },
    {
      provide: CLOCK,
      inject: [CONDUCTOR],
      useFactory: ({ clock }: Conductor) => {
        if (startMs !== undefined && !clock.startAt(startMs))
          throw new InvalidOptionsError(
            `${where}: now: got ${describe(new Date(startMs))}, but time has begun at ${describe(new Date(clock.wallNow()))}: all instances of an application share one time. Give now to one of them.`,
          );
        return clock;
      },
    },
    {
      provide: STORE,
      inject: [SETTINGS, CLOCK],
      useFactory: ({ settingsOf, codecs }: ModuleSettings, clock: Conductor['clock']) =>
        new ProcessJobStore({ settingsOf, clock, codecs, popsSleepOn: true }),
    },
    {
      provide: Pullers,
      inject: [INSTANCE_PARTS],
      useFactory: (instance: InstanceParts) => new TestedPullers(instance),
    },
    {
      provide: FLEET,
      inject: [
        CONDUCTOR,
        INSTANCES,
        STORE,
        HandlerRegistry,
        PayloadChecker,
        PayloadWriter,
        EVENTS,
        Declarers,
        INSTANCE_PARTS,
      ],
      useFactory: (
        conductor: Conductor,
        instances: TestedInstance[],
        store: ProcessJobStore,
        registry: HandlerRegistry,
        checker: PayloadChecker,
        payloads: PayloadWriter,
        events: ScheduledQueueEvents,
        declarers: Declarers,
        instance: InstanceParts,
      ) => {
        const fleet = new TestFleet({ conductor, store, registry, checker, payloads, declarers, instance });
        conductor.fleets.push(fleet);
        instances.push(new TestedInstance(store, instance.codecs, fleet, events, conductor));
        return fleet;
      },
    },
  ];
}

/** What is about Redis is neither used nor checked. */
function withoutOptionsOfRedis(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(Object.entries(given).filter(([option]) => !OPTIONS_OF_REDIS.includes(option)));
}

function readNow(now: unknown, where: string): number {
  return readOne(instant, now, `${where}: now`, invalidOptions);
}

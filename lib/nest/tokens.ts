import { type Abstract, Inject, type InjectionToken, type Type } from '@nestjs/common';
import { ScheduledQueueConsumer } from '../api/scheduled-queue.consumer.js';
import { ScheduledQueueEvents } from '../api/scheduled-queue.events.js';
import { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import type { Clock } from '../core/clock.js';
import type { Observers } from '../core/observe/observers.js';
import type { JobStore } from '../store/job-store.js';
import type { Fleet } from '../worker/handle/fleet.js';
import type { InstanceParts } from '../worker/instance-parts.js';
import type { ModuleSettings } from './module-options.js';
import { tokenOf } from './provide.js';

/** The name of the instance that was given none. */
export const DEFAULT_INSTANCE = 'default';

/**
 * The injection token of one of this library's services in the instance of that name:
 * the class itself for the default instance, a string otherwise.
 */
export function getScheduledQueueToken<T>(
  service: Type<T> | Abstract<T>,
  name: string = DEFAULT_INSTANCE,
): Type<T> | Abstract<T> | string {
  return name === DEFAULT_INSTANCE ? service : `${service.name}(${name})`;
}

/**
 * Injects a service of a named instance of the module.
 *
 * @example
 * ```ts
 * class Reports {
 *   constructor(@InjectScheduledQueue(ScheduledQueueProducer, 'reports') readonly producer: ScheduledQueueProducer) {}
 * }
 * ```
 */
export function InjectScheduledQueue<T>(
  service: Type<T> | Abstract<T>,
  name?: string,
): ParameterDecorator & PropertyDecorator {
  return Inject(getScheduledQueueToken(service, name));
}

/** Under which tokens an instance of the module exports its services. */
export interface ServiceTokens {
  producer: InjectionToken;
  consumer: InjectionToken;
  inspector: InjectionToken;
  events: InjectionToken;
}

export function serviceTokens(name: string): ServiceTokens {
  return {
    producer: getScheduledQueueToken(ScheduledQueueProducer, name),
    consumer: getScheduledQueueToken(ScheduledQueueConsumer, name),
    inspector: getScheduledQueueToken(ScheduledQueueInspector, name),
    events: getScheduledQueueToken(ScheduledQueueEvents, name),
  };
}

// The rest an instance of the module provides to itself, and exports to nobody. A test may put another store and another clock in the place
// of the real ones.

/** @internal The module's options, read. */
export const SETTINGS = tokenOf<ModuleSettings>('settings');
/** @internal */
export const STORE = tokenOf<JobStore>('store');
/** @internal All parts of the instance go by it. */
export const CLOCK = tokenOf<Clock>('clock');
/** @internal Those of the instance, whatever token they are exported under. */
export const EVENTS = tokenOf<ScheduledQueueEvents>('events');
/** @internal Who measures and traces the instance. */
export const OBSERVERS = tokenOf<Observers>('observers');
/** @internal What runs jobs. */
export const FLEET = tokenOf<Fleet>('fleet');
/** @internal */
export const INSTANCE_PARTS = tokenOf<InstanceParts>('instance parts');

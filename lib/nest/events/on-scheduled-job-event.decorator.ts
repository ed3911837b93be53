import 'reflect-metadata';
import { invalidOptions as refuse } from '../../core/errors.js';
import { EVENT_TYPES, type ScheduledQueueEventOf, type ScheduledQueueEventType } from '../../core/job/events.js';
import { describe, nearest } from '../../core/read/describe.js';
import { keyPart } from '../../core/read/names.js';
import { readOptions } from '../../core/read/shape.js';
import { addMark, methodOf } from '../handlers/marked-method.js';
import { DEFAULT_INSTANCE } from '../tokens.js';

/** The options of `@OnScheduledJobEvent`. */
export interface JobEventOptions {
  /** Only events of this queue. Default: those of every queue. */
  queue?: string;
  /** The `name` of the module's instance whose events these are. Default: the instance without a name. */
  instance?: string;
}

/** What `@OnScheduledJobEvent` leaves on a method. */
export interface EventMark {
  types: readonly ScheduledQueueEventType[];
  instance: string;
  queue?: string;
}

/** Fixed strings rather than symbols: both builds of this package must find each other's marks. */
export const EVENT_METADATA = 'nestjs-redis-scheduled-queue:events';

const DECORATOR = '@OnScheduledJobEvent';

// A method without parameters fits as well.
type ListenerDecorator<Event> = <Method extends (event: Event) => unknown>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/**
 * Calls a method of a provider or controller with each event of this type, or of these types, that this process emits. The queue does
 * not wait for the method: if it answers a promise, the next events come all the same. What it throws, or rejects with, is logged and
 * harms nobody. The type of its parameter is checked. The decorator may be repeated. A request-scoped or transient provider is made
 * anew for each event, which is what `@Inject(REQUEST)` gives. Guards, interceptors, pipes and filters do not apply. Throws
 * `InvalidOptionsError` for a type or an option that cannot be used, and on a static method or an arrow property.
 *
 * @example
 * ```ts
 * class Alerts {
 *   @OnScheduledJobEvent('dead')
 *   onDead({ name, id, reason }: queue.ScheduledQueueEventOf<'dead'>) {
 *     console.error(`Job ${name} (${id}) is dead: ${reason}`);
 *   }
 * }
 * ```
 */
export function OnScheduledJobEvent<Type extends ScheduledQueueEventType>(
  type: Type | readonly Type[],
  options?: JobEventOptions,
): ListenerDecorator<ScheduledQueueEventOf<Type>> {
  return (target, key, descriptor) => {
    const method = methodOf(DECORATOR, undefined, target, key, descriptor);
    const mark = readMark(type, options, `${target.constructor.name}.${String(key)}: ${DECORATOR}`);
    addMark(EVENT_METADATA, mark, method, target, key);
  };
}

function readMark(types: unknown, options: JobEventOptions | undefined, where: string): EventMark {
  const given: readonly unknown[] = Array.isArray(types) ? types : [types];
  if (given.length === 0) throw refuse(`${where}: types: got an empty list, expected at least one of ${listed()}.`);
  for (const type of given) {
    if (EVENT_TYPES.includes(type as ScheduledQueueEventType)) continue;
    const near = typeof type === 'string' ? nearest(type, EVENT_TYPES) : undefined;
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    throw refuse(`${where}: type: got ${describe(type)}, expected one of ${listed()}.${hint}`);
  }
  const { queue, instance } = readOptions(options, { queue: keyPart, instance: keyPart }, where, refuse);
  return { types: [...new Set(given as ScheduledQueueEventType[])], instance: instance ?? DEFAULT_INSTANCE, queue };
}

function listed(): string {
  return EVENT_TYPES.map((type) => `'${type}'`).join(', ');
}

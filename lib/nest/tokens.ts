import { type Abstract, Inject, type Type } from '@nestjs/common';

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

import type { DiscoveryService } from '@nestjs/core';
import { NodeTimers, type Timers } from '../core/timers.js';

/** The part of the SchedulerRegistry of @nestjs/schedule that this library uses. */
interface Registry {
  addTimeout(name: string, timeout: unknown): void;
  deleteTimeout(name: string): void;
  doesExist(type: 'timeout', name: string): boolean;
}

/** Timers that an app which uses @nestjs/schedule finds in its SchedulerRegistry, and may delete there. */
class RegistryTimers implements Timers {
  private readonly callbacks = new NodeTimers();

  constructor(private readonly registry: Registry) {}

  set(name: string, callback: () => void, ms: number): void {
    this.clear(name);
    const timer = this.callbacks.set(
      name,
      () => {
        this.forget(name);
        callback();
      },
      ms,
    );
    this.registry.addTimeout(name, timer);
  }

  clear(name: string): void {
    this.callbacks.clear(name);
    this.forget(name);
  }

  private forget(name: string): void {
    if (this.registry.doesExist('timeout', name)) this.registry.deleteTimeout(name);
  }
}

/**
 * The app's registry by its name rather than by its class: the package is an optional peer, and may be there twice,
 * as ES and as CommonJS.
 */
export function findTimers(discovery: DiscoveryService): Timers {
  const wrapper = discovery
    .getProviders()
    .find(({ name, instance }) => name === 'SchedulerRegistry' && typeof instance?.addTimeout === 'function');
  return wrapper ? new RegistryTimers(wrapper.instance as Registry) : new NodeTimers();
}

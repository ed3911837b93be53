import type { DiscoveryService } from '@nestjs/core';
import { type CallOff, SystemClock, type TimerOptions } from '../core/clock.js';

/** The part of the SchedulerRegistry of @nestjs/schedule that this library uses. */
interface Registry {
  addTimeout(name: string, timeout: unknown): void;
  deleteTimeout(name: string): void;
  doesExist(type: 'timeout', name: string): boolean;
}

/** A clock whose named timers an app that uses @nestjs/schedule finds in its SchedulerRegistry, and may delete there. */
export class ApplicationClock extends SystemClock {
  /** `null` where the app has none. */
  private registry?: Registry | null;
  /** The timers that stand in the registry, by name. */
  private readonly listed = new Map<string, object>();

  constructor(private readonly discovery: DiscoveryService) {
    super();
  }

  override after(ms: number, callback: () => void, options: TimerOptions = {}): CallOff {
    const { name } = options;
    // Looked up when first needed: it is only there once the app has started.
    if (name !== undefined && this.registry === undefined) this.registry = findRegistry(this.discovery);
    if (name === undefined || !this.registry) return super.after(ms, callback, options);
    const timer = this.set(
      ms,
      () => {
        this.strike(name, timer);
        callback();
      },
      options,
    );
    if (this.registry.doesExist('timeout', name)) this.registry.deleteTimeout(name);
    this.registry.addTimeout(name, timer);
    this.listed.set(name, timer);
    return () => {
      clearTimeout(timer);
      this.strike(name, timer);
    };
  }

  /** Takes a timer off the registry, unless another one of its name stands there by now. */
  private strike(name: string, timer: object): void {
    if (this.listed.get(name) !== timer) return;
    this.listed.delete(name);
    if (this.registry!.doesExist('timeout', name)) this.registry!.deleteTimeout(name);
  }
}

/**
 * The app's registry by its name rather than by its class: the package is an optional peer, and may be there twice,
 * as ES and as CommonJS.
 */
function findRegistry(discovery: DiscoveryService): Registry | null {
  const wrapper = discovery
    .getProviders()
    .find(({ name, instance }) => name === 'SchedulerRegistry' && typeof instance?.addTimeout === 'function');
  return (wrapper?.instance as Registry | undefined) ?? null;
}

import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { type QueueHealth, readHealth } from '../api/inspection/queue-health.js';
import { invalidOptions } from '../core/errors.js';
import { DEFAULT_QUEUE } from '../core/options/queue-options.js';
import { type Duration, span } from '../core/read/duration.js';
import { keyPart } from '../core/read/names.js';
import { duration, integer, readOptions, type Shape } from '../core/read/shape.js';
import { instanceNames, partOfInstance, requireInstance } from '../nest/instances.js';
import type { Token } from '../nest/provide.js';
import { DEFAULT_INSTANCE, FLEET, SETTINGS, STORE } from '../nest/tokens.js';
import type { JobStore } from '../store/job-store.js';
import type { Fleet, SilentQueue } from '../worker/handle/fleet.js';
import { passedBounds } from './passed-bounds.js';
import { Standstill } from './standstill.js';

/** How long Redis may take. */
const ANSWER_WITHIN_MS = 2_000;
/** How long it may take to answer another connection than that of a silent worker. */
const ANSWER_ANOTHER_WITHIN_MS = 900;
/**
 * How much longer the worker may then be silent: a connection that was lost in an outage is made anew up to 1.2 s after Redis is back, so
 * another one may well be answered before it. Both times together leave 0.2 s of the 2.5 s in which this indicator answers.
 */
const HEARD_WITHIN_MS = 1_400;
const LOOK_EVERY_MS = 50;

/** What `isHealthy` looks at. A bound that is left out is no condition. */
export interface ScheduledQueueHealthOptions {
  /** Default `'default'`. */
  queue?: string;
  /** The `name` of the module's instance. Default: the instance without a name. */
  instance?: string;
  /** How late the oldest due job may be. Nothing is late while the queue is paused, in a blackout, or at its `rateLimit`. */
  maxLatenessMs?: Duration;
  /** How many dead letters there may be. */
  maxDead?: number;
  /** How many processes that handle or pop jobs of the queue must be alive, those of other hosts included. */
  minWorkers?: number;
}

/** The options of `isLive`. */
export interface ScheduledQueueLivenessOptions {
  /** The `name` of the module's instance. Default: the instance without a name. */
  instance?: string;
}

const HEALTH: Shape<Omit<ScheduledQueueHealthOptions, 'maxLatenessMs'> & { maxLatenessMs?: number }> = {
  queue: keyPart,
  instance: keyPart,
  maxLatenessMs: duration(),
  maxDead: integer(0),
  minWorkers: integer(0),
};
const LIVENESS: Shape<ScheduledQueueLivenessOptions> = { instance: keyPart };

/**
 * Tells `@nestjs/terminus` how the queue is. Provide it in the module that imports `TerminusModule`. Neither method rejects: a wrong option,
 * and an `instance` that the application does not have, are answered as `down` too, with a `message` that says so.
 */
@Injectable()
export class ScheduledQueueHealthIndicator implements OnModuleInit, OnApplicationShutdown {
  private readonly standstill = new Standstill();

  /** @internal Nest makes it. */
  constructor(
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    this.standstill.watch();
  }

  onApplicationShutdown(): void {
    this.standstill.end();
  }

  /**
   * For a readiness probe. Down where Redis has not answered within 2 s, or one of the bounds given is passed. The answer holds `latenessMs`,
   * `dead` and `workers` of the queue, those that are known, and `message` where it is down.
   *
   * @example
   * ```ts
   * health.check([() => indicator.isHealthy('queue', { maxLatenessMs: '1m' })]);
   * ```
   */
  async isHealthy<const Key extends string>(
    key: Key,
    options?: ScheduledQueueHealthOptions,
  ): Promise<HealthIndicatorResult<Key>> {
    const indicator = this.indicators.check(key);
    const health: Partial<QueueHealth> = {};
    try {
      const { queue = DEFAULT_QUEUE, instance, ...bounds } = readOptions(options, HEALTH, 'isHealthy', invalidOptions);
      const part = this.partsOf(instance, 'isHealthy');
      const store = part(STORE);
      const read = readHealth(store.queue(queue).view, part(SETTINGS).settingsOf(queue), health);
      if (!(await isDoneWithin(ANSWER_WITHIN_MS, read))) {
        const why = store.trouble ? `: ${store.trouble.message}` : '';
        return indicator.down({ ...health, message: `Redis has not answered within ${span(ANSWER_WITHIN_MS)}${why}.` });
      }
      const message = passedBounds(queue, health as QueueHealth, bounds);
      return message === undefined ? indicator.up({ ...health }) : indicator.down({ ...health, message });
    } catch (error) {
      return indicator.down({ ...health, message: (error as Error).message });
    }
  }

  /**
   * For a liveness probe: whether this process has to be restarted. Down only if Redis answers another connection of this process, and a worker
   * of this process has had no answer for twice the longer of `maxSleepMs` of its queue and `commandTimeoutMs`. So it is up while Redis is
   * away, before the start, while the workers stop, and in a process without handlers. It asks Redis nothing unless a worker seems silent.
   *
   * @example
   * ```ts
   * health.check([() => indicator.isLive('queue')]);
   * ```
   */
  async isLive<const Key extends string>(
    key: Key,
    options?: ScheduledQueueLivenessOptions,
  ): Promise<HealthIndicatorResult<Key>> {
    const indicator = this.indicators.check(key);
    try {
      const { instance } = readOptions(options, LIVENESS, 'isLive', invalidOptions);
      const part = this.partsOf(instance, 'isLive');
      this.standstill.watch();
      const wedged = await this.wedgedQueues(part(FLEET), part(STORE));
      if (wedged.length === 0) return indicator.up();
      const told = wedged.map(({ queue, silentMs }) => `the queue '${queue}' for ${span(silentMs)}`).join(', ');
      return indicator.down({
        message: `No answer from Redis reaches the workers of this process (${told}), although Redis answers another connection of it.`,
      });
    } catch (error) {
      return indicator.down({ message: (error as Error).message });
    }
  }

  /** The queues that stay silent for the workers here, although Redis answers for them. */
  private async wedgedQueues(fleet: Fleet, store: JobStore): Promise<SilentQueue[]> {
    const silent = () => fleet.silentQueues(this.standstill.ranForMs);
    const queues = silent().map(({ queue }) => queue);
    if (queues.length === 0) return [];
    const answering = await store.answering(queues, ANSWER_ANOTHER_WITHIN_MS);
    for (const giveUpAt = performance.now() + HEARD_WITHIN_MS; ; await pause(LOOK_EVERY_MS)) {
      const wedged = silent().filter(({ queue }) => answering.includes(queue));
      if (wedged.length === 0 || performance.now() >= giveUpAt) return wedged;
    }
  }

  /** Answers what gives the parts of an instance. Throws `InvalidOptionsError` where there is none of that name. */
  private partsOf(instance = DEFAULT_INSTANCE, where: string): <Part>(token: Token<Part>) => Part {
    requireInstance(instanceNames(this.modules), instance, where, 'Say which one is meant');
    return (token) => partOfInstance(this.modules, instance, token);
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Whether it is done in time. Rejects as it does; what it does later is nobody's matter any more. */
async function isDoneWithin(ms: number, doing: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([doing.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

import { Redis } from 'ioredis';
import { type QueueOptions, type QueueSettings, readQueueOptions } from '../../lib/core/options/queue-options.js';
import type {
  ClaimedJob,
  JobStore,
  NewJob,
  Settlement,
  Turn,
  TurnAnswer,
  WorkerSeat,
} from '../../lib/store/job-store.js';
import { RedisJobStore } from '../../lib/store/redis/redis-job-store.js';
import { audit } from './audit.js';
import { newPrefix, redisUrl } from './queue-app.js';
import { until } from './wait.js';

export const QUEUE = 'default';

const never = new AbortController().signal;
const silent = { log: () => {}, warn: () => {}, error: () => {} };

/** A worker's seat with the turns that tests take. */
export class TestWorker {
  constructor(private readonly seat: WorkerSeat) {}

  turn(turn: Partial<Turn> = {}): Promise<TurnAnswer> {
    return this.seat.turn(
      { settlements: [], renewals: [], room: 0, handlers: [], lookFrom: '', leaving: false, suspects: '', ...turn },
      never,
    );
  }

  async claim(room = 10): Promise<readonly ClaimedJob[]> {
    // As a process that holds nothing: a suspect comes alone.
    return (await this.turn({ room, suspects: 'take' })).claimed;
  }

  async settle(...settlements: Settlement[]): Promise<readonly boolean[]> {
    return (await this.turn({ settlements })).settled.map((settled) => settled !== 'lost');
  }

  /** Resolves once it hears messages, to in how many ms each one tells it to look; what comes later is added. */
  listens(): Promise<number[]> {
    const told: number[] = [];
    return new Promise((resolve) => {
      const look = (inMs: number) => {
        told.push(inMs);
        resolve(told);
      };
      this.seat.listen({ look, renew: () => {} });
    });
  }
}

/** A store over the shared Redis, under keys of its own. */
export class TestStore {
  readonly redis: Redis;
  readonly store: JobStore;
  readonly settings: QueueSettings;

  constructor(
    options: QueueOptions = {},
    url: string = redisUrl(),
    readonly prefix: string = newPrefix(),
    commandTimeoutMs = 5_000,
  ) {
    this.redis = new Redis(url);
    this.settings = readQueueOptions(QUEUE, options);
    this.store = new RedisJobStore({
      connection: url,
      prefix: this.prefix,
      commandTimeoutMs,
      settingsOf: () => this.settings,
      log: silent,
    });
  }

  worker(id: string, ...names: string[]): TestWorker {
    return this.limitedWorker(id, false, ...names);
  }

  /** `limited`: its handlers have limits of their own, which each turn says. */
  limitedWorker(id: string, limited: boolean, ...names: string[]): TestWorker {
    const seatNames = { names: names.length > 0 ? names : ['work'], limited };
    return new TestWorker(this.store.seat(QUEUE, id, seatNames, this.settings));
  }

  /** Pulls jobs of these names, of every name where there are none. */
  puller(id: string, ...names: string[]): TestWorker {
    return new TestWorker(this.store.pullSeat(QUEUE, id, names.length > 0 ? names : undefined, this.settings));
  }

  /** A worker that sleeps, all its handlers full, and notes when it is told to look; with several names they have limits. */
  async asleep(id: string, ...names: string[]): Promise<{ told: number[] }> {
    const told: number[] = [];
    const seat = this.store.seat(QUEUE, id, { names, limited: names.length > 1 }, this.settings);
    seat.listen({ look: (inMs) => told.push(inMs), renew: () => {} });
    // Told once that it is heard; from then on a turn puts it among the sleepers.
    await until(`${id} is heard`, () => told.length > 0);
    await new TestWorker(seat).turn({ room: 1, handlers: names.map((name) => ({ name, weight: 1, free: 0 })) });
    told.length = 0;
    return { told };
  }

  /** Schedules one job named `work`, due now unless said otherwise. */
  schedule(job: Partial<NewJob> = {}) {
    return this.store.schedule(QUEUE, [newJob(job)])[0]!;
  }

  audit(): Promise<string[]> {
    return audit(this.redis, this.prefix);
  }

  async close(): Promise<void> {
    await this.store.close();
    this.redis.disconnect();
  }
}

export function newJob(job: Partial<NewJob> = {}): NewJob {
  return { name: 'work', priority: 5, due: { delayMs: 0 }, replace: false, settings: {}, payload: '{}', ...job };
}

export const settlement = {
  complete: ({ id, fence }: ClaimedJob) =>
    ({ id, fence, transition: 'complete', idWasChosen: false }) satisfies Settlement,
  retry: ({ id, fence }: ClaimedJob, delayMs: number): Settlement => ({
    id,
    fence,
    transition: 'retry',
    delayMs,
    failure: '{"message":"no"}',
  }),
  dead: ({ id, fence }: ClaimedJob) =>
    ({
      id,
      fence,
      transition: 'dead',
      failure: '{"reason":"attempts-exhausted"}',
      ran: true,
      failed: true,
      idWasChosen: false,
    }) satisfies Settlement,
  release: ({ id, fence }: ClaimedJob): Settlement => ({ id, fence, transition: 'release' }),
};

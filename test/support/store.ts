import { Redis } from 'ioredis';
import { type QueueOptions, type QueueSettings, readQueueOptions } from '../../lib/core/options/queue-options.js';
import { isReadable } from '../../lib/store/envelope.js';
import type {
  Claim,
  ClaimedJob,
  Envelope,
  JobStore,
  NewJob,
  QueueStore,
  ScheduledAnswer,
  Settlement,
  Unreadable,
} from '../../lib/store/job-store.js';
import { RedisJobStore } from '../../lib/store/redis/redis-job-store.js';
import { audit } from './audit.js';
import { newPrefix, queueUrl, redisUrl } from './queue-app.js';
import { SessionTurns } from './session-turns.js';
import { until } from './wait.js';

export const QUEUE = 'default';

const silent = { log: () => {}, warn: () => {}, error: () => {} };

/** A session with the turns that tests take. */
export class TestWorker extends SessionTurns {
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
      this.session.listen({ look, cancel: () => {} });
    });
  }
}

/** A store over the shared Redis, under keys of its own. */
export class TestStore {
  readonly redis: Redis;
  readonly store: JobStore;
  readonly jobs: QueueStore['jobs'];
  readonly management: QueueStore['management'];
  readonly view: QueueStore['view'];
  readonly sessions: QueueStore['sessions'];
  readonly recurrences: QueueStore['recurrences'];
  readonly settings: QueueSettings;

  constructor(
    options: QueueOptions = {},
    url: string = queueUrl(),
    readonly prefix: string = newPrefix(),
    commandTimeoutMs = 5_000,
  ) {
    this.redis = new Redis(url === queueUrl() ? redisUrl() : url);
    this.settings = readQueueOptions(QUEUE, options);
    this.store = new RedisJobStore({
      connection: url,
      prefix: this.prefix,
      commandTimeoutMs,
      settingsOf: () => this.settings,
      log: silent,
    });
    ({
      jobs: this.jobs,
      management: this.management,
      view: this.view,
      sessions: this.sessions,
      recurrences: this.recurrences,
    } = this.store.queue(QUEUE));
  }

  worker(id: string, ...names: string[]): TestWorker {
    return this.limitedWorker(id, false, ...names);
  }

  /** `limited`: its handlers have limits of their own, which each turn says. */
  limitedWorker(id: string, limited: boolean, ...names: string[]): TestWorker {
    return new TestWorker(this.sessions.worker(id, { names: names.length > 0 ? names : ['work'], limited }));
  }

  /** Pulls jobs of these names, of every name where there are none. */
  puller(id: string, ...names: string[]): TestWorker {
    return new TestWorker(this.sessions.pull(id, names.length > 0 ? names : undefined));
  }

  /** A worker that sleeps, all its handlers full, and notes when it is told to look; with several names they have limits. */
  async asleep(id: string, ...names: string[]): Promise<{ told: number[] }> {
    const told: number[] = [];
    const session = this.sessions.worker(id, { names, limited: names.length > 1 });
    session.listen({ look: (inMs) => told.push(inMs), cancel: () => {} });
    // Told once that it is heard; from then on a turn puts it among the sleepers.
    await until(`${id} is heard`, () => told.length > 0);
    await new TestWorker(session).turn({
      limit: 1,
      handlers: names.map((name) => ({ name, weight: 1, free: 0, size: 1 })),
    });
    told.length = 0;
    return { told };
  }

  /** Schedules one job named `work`, due now unless said otherwise. */
  schedule(job: Partial<NewJob> = {}) {
    return this.jobs.schedule(newJob(job));
  }

  /** Schedules these, in one call of its own each. */
  scheduleAll(jobs: readonly NewJob[]): Promise<ScheduledAnswer[]> {
    return Promise.all(jobs.map((job) => this.jobs.schedule(job)));
  }

  /** Puts one job named `work` in the place of the one that has its id. */
  replace(job: Partial<NewJob> & { id: string }) {
    return this.jobs.replace({ ...newJob(job), id: job.id });
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
  return { name: 'work', priority: 5, due: { delayMs: 0 }, settings: {}, payload: '{}', ...job };
}

interface WithEnvelope {
  readonly envelope: Envelope | Unreadable;
}

/** The payload of a job; throws where its envelope cannot be read. */
export const payloadOf = (job: WithEnvelope) => envelopeOf(job).payload as string;

/** The name of a job; throws where its envelope cannot be read. */
export const nameOf = (job: WithEnvelope) => envelopeOf(job).name;

function envelopeOf({ envelope }: WithEnvelope): Envelope {
  if (!isReadable(envelope)) throw new Error(envelope.unreadable);
  return envelope;
}

export const settlement = {
  complete: ({ id, fence }: ClaimedJob) =>
    ({ id, fence, transition: 'complete', idWasChosen: false }) satisfies Settlement,
  retry: ({ id, fence }: ClaimedJob, delayMs: number): Settlement => ({
    id,
    fence,
    transition: 'retry',
    delayMs,
    failure: { name: 'Error', message: 'no' },
  }),
  dead: ({ id, fence }: ClaimedJob) =>
    ({
      id,
      fence,
      transition: 'dead',
      failure: { name: 'Error', message: 'no', reason: 'attempts-exhausted' },
      ran: true,
      failed: true,
      idWasChosen: false,
    }) satisfies Settlement,
  release: ({ id, fence }: Claim): Settlement => ({ id, fence, transition: 'release' }),
};

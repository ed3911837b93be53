import type { VersionRange } from '../../lib/core/job/job-versions.js';
import { type QueueOptions, type QueueSettings, readQueueOptions } from '../../lib/core/options/queue-options.js';
import type {
  ClaimedJob,
  JobStore,
  NewJob,
  QueueStore,
  ScheduledAnswer,
  Settlement,
  StoredJob,
  Turn,
  TurnAnswer,
} from '../../lib/store/job-store.js';
import type { ManualClock } from '../support/manual-clock.js';
import { SessionTurns } from '../support/session-turns.js';

export const QUEUE = 'default';

/** A session with the turns that cases take. */
export class TestSession extends SessionTurns {
  /** In how many ms each message so far said to look. */
  readonly told: number[] = [];
  cancels = 0;

  async settle(...settlements: Settlement[]): Promise<TurnAnswer['settled']> {
    return (await this.turn({ settlements })).settled;
  }

  /** Resolves once it hears messages. */
  async listens(): Promise<this> {
    this.session.listen({ look: (inMs) => this.told.push(inMs), cancel: () => this.cancels++ });
    await until('it is heard', () => this.told.length > 0);
    this.told.length = 0;
    this.cancels = 0;
    return this;
  }

  /** Resolves once it was told something since it last slept; the messages until then are forgotten by `sleeps`. */
  async isTold(): Promise<number> {
    await until('it is told', () => this.told.length > 0);
    return this.told[0]!;
  }

  /** Takes a turn that claims what is due, and answers how long it is to sleep. */
  async sleeps(turn: Partial<Turn> = {}): Promise<number | undefined> {
    const { sleepMs } = await this.turn({ limit: 10, ...turn });
    this.told.length = 0;
    return sleepMs;
  }
}

/** A store with one queue, and its time. */
export abstract class World {
  protected opened?: { store: JobStore; queue: QueueStore; settings: QueueSettings };
  /** A case may open its queue again, with other options. */
  private readonly stores: JobStore[] = [];

  constructor(readonly clock: ManualClock) {}

  protected abstract open(settings: QueueSettings): JobStore;

  /** What is wrong in the store itself. */
  abstract audit(): Promise<string[]>;

  /** Opens the queue of a case. */
  store(options: QueueOptions = {}): QueueStore {
    const settings = readQueueOptions(QUEUE, options);
    const store = this.open(settings);
    this.stores.push(store);
    this.opened = { store, queue: store.queue(QUEUE), settings };
    return this.opened.queue;
  }

  get settings(): QueueSettings {
    return this.opened!.settings;
  }

  get whole(): JobStore {
    return this.opened!.store;
  }

  get queue(): QueueStore {
    return this.opened!.queue;
  }

  /** Of one name, `work`, unless said otherwise. */
  worker(id: string, ...names: string[]): TestSession {
    return new TestSession(
      this.queue.sessions.worker(id, { names: names.length > 0 ? names : ['work'], limited: names.length > 1 }),
    );
  }

  /** Of these names, each in its versions. */
  workerOf(id: string, versions: Readonly<Record<string, VersionRange>>): TestSession {
    const handled = new Map(Object.entries(versions));
    return new TestSession(
      this.queue.sessions.worker(id, { names: [...handled.keys()], limited: false, versions: handled }),
    );
  }

  /** Of these names, of every name where there are none. */
  puller(id: string, ...names: string[]): TestSession {
    return new TestSession(this.queue.sessions.pull(id, names.length > 0 ? names : undefined));
  }

  schedule(job: Partial<NewJob> = {}): Promise<ScheduledAnswer> {
    return this.queue.jobs.schedule(newJob(job));
  }

  async scheduleAll(jobs: readonly Partial<NewJob>[]): Promise<ScheduledAnswer[]> {
    return Promise.all(jobs.map((job) => this.schedule(job)));
  }

  replace(job: Partial<NewJob> & { id: string }): Promise<ScheduledAnswer> {
    return this.queue.jobs.replace({ ...newJob(job), id: job.id });
  }

  job(id: string): Promise<StoredJob | undefined> {
    return this.queue.view.job(id);
  }

  /** Lets time pass for the store, at once. */
  pass(ms: number): void {
    this.clock.pass(ms);
  }

  /** Somebody sets the clock of the store. */
  jump(ms: number): void {
    this.clock.jump(ms);
  }

  now(): number {
    return this.clock.wallNow();
  }

  /** Lets time pass while these sessions are there: without any, the store takes itself for having been away. */
  async serve(ms: number, ...sessions: TestSession[]): Promise<TurnAnswer[]> {
    const answers: TurnAnswer[] = [];
    const step = Math.floor(this.settings.leaseMs / 3);
    for (let left = ms; left > 0; left -= step) {
      this.pass(Math.min(step, left));
      for (const session of sessions) answers.push(await session.turn());
    }
    return answers;
  }

  /** Lets the leases of others run out while a worker of another name is there, which recovers them. */
  async outlive(): Promise<TurnAnswer[]> {
    return this.serve(this.settings.leaseMs + 1, this.worker('living', 'nothing'));
  }

  /** A worker claims a job and dies, so often. */
  async crash(times: number, id = 'dies', ...names: string[]): Promise<void> {
    for (let i = 0; i < times; i++) {
      const claimed = await this.worker(`${id}-${i}`, ...names).claim();
      if (claimed.length === 0) throw new Error('there was nothing to die with');
      await this.outlive();
    }
  }

  /** Ends what the world itself has started. */
  async stop(): Promise<void> {}

  async close(): Promise<void> {
    await Promise.all(this.stores.splice(0).map((store) => store.close()));
    this.opened = undefined;
  }
}

export const newJob = (job: Partial<NewJob> = {}): NewJob => ({
  name: 'work',
  priority: 5,
  due: { delayMs: 0 },
  settings: {},
  payload: '{}',
  ...job,
});

export const settlement = {
  complete: ({ id, fence }: ClaimedJob, result?: string): Settlement => ({
    id,
    fence,
    transition: 'complete',
    idWasChosen: false,
    ...(result !== undefined && { result }),
  }),
  completeChosen: ({ id, fence }: ClaimedJob): Settlement => ({ id, fence, transition: 'complete', idWasChosen: true }),
  retry: ({ id, fence }: ClaimedJob, delayMs = 0, message = 'no'): Settlement => ({
    id,
    fence,
    transition: 'retry',
    delayMs,
    failure: { name: 'Error', message },
  }),
  dead: ({ id, fence }: ClaimedJob, more: Partial<Settlement & { transition: 'dead' }> = {}): Settlement => ({
    id,
    fence,
    transition: 'dead',
    failure: { name: 'Error', message: 'no', reason: 'attempts-exhausted' },
    ran: true,
    failed: true,
    idWasChosen: false,
    ...more,
  }),
  snooze: ({ id, fence }: ClaimedJob, delayMs: number): Settlement => ({
    id,
    fence,
    transition: 'snooze',
    due: { delayMs },
  }),
  discard: ({ id, fence }: ClaimedJob, idWasChosen = false, reason = ''): Settlement => ({
    id,
    fence,
    transition: 'discard',
    idWasChosen,
    reason,
  }),
  release: ({ id, fence }: ClaimedJob): Settlement => ({ id, fence, transition: 'release' }),
  cancel: ({ id, fence }: ClaimedJob): Settlement => ({ id, fence, transition: 'cancel' }),
  extend: ({ id, fence }: ClaimedJob, leaseMs: number): Settlement => ({ id, fence, transition: 'extend', leaseMs }),
};

export const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

/** The payloads of jobs, as a short way to name them. */
export const payloads = (jobs: readonly Pick<ClaimedJob, 'envelope'>[]) =>
  jobs.map(({ envelope }) => ('payload' in envelope ? envelope.payload : undefined));

/** By this machine's time of day: the other clock stands still. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 5_000; !isSo(); ) {
    if (Date.now() > deadline) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

import type {
  AppJobScheduler,
  JobCleanStatus,
  JobCounts,
  JobStatus,
  QueueJob,
  QueueJobOptions,
  QueueWorker,
  Status,
} from '@bull-board/api/typings/app';
import type { InspectedJob } from '../api/inspection/inspected-job.js';
import type { ScheduledQueueInspector } from '../api/scheduled-queue.inspector.js';
import type { ScheduledQueueProducer } from '../api/scheduled-queue.producer.js';
import { defineScheduledJob } from '../core/job/definition.js';
import { FIRST_VERSION } from '../core/job/job-versions.js';
import type { ScheduledJobRef } from '../core/job/scheduled-job.js';
import { DEFAULT_PRIORITY } from '../core/options/defaults.js';
import type { ScheduleOptions } from '../core/options/schedule-options.js';
import { REDACTED, type Redaction, redactionOf } from '../core/payload/redaction.js';
import { readAdapterOptions, type ScheduledQueueAdapterOptions } from './adapter-options.js';
import { idOf } from './board-id.js';
import { BOARD_STATES, BoardJob, type JobCalls } from './board-job.js';
import { toScheduler } from './board-scheduler.js';
import { Readable } from './readable.js';
import { asked, mistaken, outdated, refused } from './refusal.js';
import { RefusingAdapter } from './refusing-adapter.js';

/** As many as one call of `find` answers. */
const PROMOTED_AT_ONCE = 1_000;
/** As `list` has it. */
const PASSED_OVER_AT_MOST = 100_000;
/** As many as one call of `recurrences` answers. */
const MOST_SCHEDULERS = 10_000;
/** Each open page asks every five seconds how many there are of each queue, and to count 5 000 of them takes a second. */
const SCHEDULERS_COUNTED_MS = 60_000;
/** Its type wants all statuses; a queue has those of `getStatuses`. */
const NO_JOBS = { active: 0, waiting: 0, delayed: 0, failed: 0, completed: 0 } as JobCounts;

/**
 * Shows a queue on [bull-board](https://github.com/felixmosh/bull-board), and lets the board manage it. Give it to `createBullBoard`, or to the
 * `addQueue` of a board. On the board due jobs are waiting, scheduled ones delayed and dead ones failed. The board answers 405 with a message
 * where this library does not do what a button says; nothing is changed then. Throws `InvalidOptionsError`.
 *
 * @example
 * ```ts
 * board.addQueue(new ScheduledQueueAdapter(inspector, { queue: 'mail', producer }));
 * ```
 */
export class ScheduledQueueAdapter extends RefusingAdapter {
  private readonly queue: string;
  private readonly producer?: ScheduledQueueProducer;
  private readonly redaction: Redaction;
  private readonly calls: JobCalls;
  private readonly readable = new Readable();
  private isListed = false;
  private schedulers = { count: 0, until: 0 };

  constructor(
    private readonly inspector: ScheduledQueueInspector,
    options: ScheduledQueueAdapterOptions,
  ) {
    const { queue, producer, ...ofBoard } = readAdapterOptions(inspector, options);
    super('bull', { ...ofBoard, allowCompletedRetries: false });
    this.queue = queue;
    this.producer = producer;
    this.redaction = redactionOf(inspector);
    this.calls = { inspector, mayRetry: this.allowRetries, producerTo: (action) => this.producerTo(action) };
  }

  getName(): string {
    return `${this.prefix}${this.queue}`;
  }

  /** Says it where the queue cannot be read. */
  override getDisplayName(): string {
    const name = super.getDisplayName();
    return this.readable.problem === undefined ? name : `${name || this.getName()} (cannot be read)`;
  }

  /** Why the queue cannot be read, where that is so. */
  override getDescription(): string {
    return this.readable.problem ?? super.getDescription();
  }

  /** The tabs, in their order. */
  getStatuses(): Status[] {
    return ['latest', 'active', 'waiting', 'delayed', 'failed', 'completed'];
  }

  /** In the order in which the tab "latest" lists them: what happens and has happened comes before what is to come. */
  getJobStatuses(): JobStatus[] {
    return ['active', 'failed', 'completed', 'waiting', 'delayed'];
  }

  /** None where they cannot be read and the board lists all queues; what is done to one queue is refused then. */
  async getJobCounts(): Promise<JobCounts> {
    const counts = this.counts();
    // The list goes on to ask in the same moment.
    await Promise.resolve();
    return this.isListed ? this.readable.read('counts', counts, NO_JOBS) : counts;
  }

  /** Those from `start` to `end`, both included, of each state. */
  async getJobs(statuses: JobStatus[], start = 0, end = start + 99): Promise<QueueJob[]> {
    if (start > PASSED_OVER_AT_MOST)
      throw mistaken(
        `The board shows the first ${PASSED_OVER_AT_MOST} jobs of a state, got the ${start + 1}th: find later ones with inspector.find, or with the command find in a shell.`,
      );
    const page = { ...this.ofQueue, offset: start, limit: end - start + 1 };
    const states = Object.entries(BOARD_STATES) as [keyof typeof BOARD_STATES, JobStatus][];
    const lists = statuses.map(async (status) => {
      const state = states.find(([, named]) => named === status)?.[0];
      return state ? asked(this.inspector.list(state, page)) : [];
    });
    const jobs = await this.readable.read('jobs', Promise.all(lists), []);
    return jobs.flat().map((job) => this.shown(job));
  }

  async getJob(id: string): Promise<QueueJob | null> {
    const job = await asked(this.inspector.job(idOf(id), this.ofQueue));
    return job && this.shown(job);
  }

  async addJob(name: string, data: unknown, options: QueueJobOptions = {}): Promise<QueueJob> {
    const producer = this.producerTo('adding a job');
    const { attempts, version, ...rest } = options as QueueJobOptions & { version?: number };
    // Of a job that is duplicated, as the board shows it.
    if (!this.redaction.isEmpty && JSON.stringify([data, rest]).includes(`"${REDACTED}"`))
      throw mistaken(
        `The new job has '${REDACTED}' in the place of a value that the board does not show: write the value itself.`,
      );
    const { queue } = this;
    const said = { ...(attempts !== undefined && { maxAttempts: attempts }), ...rest, queue } as ScheduleOptions;
    // A job that is duplicated has the version of its payload among its options.
    const schedule = async () => {
      const job = version === undefined ? name : defineScheduledJob<unknown>(name, { version });
      return await producer.schedule(job, data, said);
    };
    const ref = await asked(schedule());
    if (!ref.created && ref.status !== 'replaced' && ref.status !== 'queued')
      throw outdated(`No job was added: the id '${ref.id}' is taken (${ref.status}).`);
    return this.added(ref, data, version);
  }

  async clean(status: JobCleanStatus, graceTimeMs: number): Promise<void> {
    if (status !== 'failed')
      throw refused(
        `Only failed jobs can be cleaned all at once, got ${status}: delete jobs one by one, or empty the queue to delete all that wait.`,
      );
    await this.inspector.purgeDead({ ...this.ofQueue, diedBefore: Date.now() - graceTimeMs });
  }

  async empty(): Promise<void> {
    await this.inspector.clear(this.ofQueue);
  }

  async promoteAll(): Promise<void> {
    const producer = this.producerTo('promoting jobs');
    let cursor: string | undefined;
    do {
      const page = await this.inspector.find({
        ...this.ofQueue,
        states: ['scheduled'],
        limit: PROMOTED_AT_ONCE,
        cursor,
      });
      await Promise.all(page.jobs.map((job) => producer.runNow(job)));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }

  isPaused(): Promise<boolean> {
    return this.readable.read('pause', this.inspector.isPaused(this.ofQueue), false);
  }

  pause(): Promise<void> {
    return this.inspector.pause(this.ofQueue);
  }

  resume(): Promise<void> {
    return this.inspector.resume(this.ofQueue);
  }

  override async getWorkers(): Promise<QueueWorker[]> {
    const workers = await this.inspector.workers(this.ofQueue);
    return workers.map(({ id, host, pid, running }) => ({
      id,
      name: id,
      addr: `${host}, pid ${pid}, runs ${running}`,
      // The board says "connected now": nobody knows since when.
      age: 0,
    }));
  }

  /** For a minute the same, unless somebody lists or removes schedulers here. */
  async getJobSchedulersCount(): Promise<number> {
    if (performance.now() >= this.schedulers.until) await this.getJobSchedulers();
    return this.schedulers.count;
  }

  async getJobSchedulers(): Promise<Omit<AppJobScheduler, 'queueName'>[]> {
    const { producer } = this;
    if (!producer) return [];
    const all = producer.recurrences({ ...this.ofQueue, limit: MOST_SCHEDULERS });
    const recurrences = await this.readable.read('schedulers', all, undefined);
    if (!recurrences) return [];
    this.schedulers = { count: recurrences.length, until: performance.now() + SCHEDULERS_COUNTED_MS };
    return recurrences.map((recurrence) => toScheduler(this.redaction.redactJob(recurrence)));
  }

  /** One that a handler declares is refused. */
  async removeJobScheduler(id: string): Promise<boolean> {
    const isRemoved = await asked(
      this.producerTo('removing a scheduler').removeRecurrence(idOf(id), this.ofQueue),
      405,
    );
    this.schedulers.until = 0;
    return isRemoved;
  }

  override get supportsJobSchedulerRun(): boolean {
    return true;
  }

  async runJobSchedulerNow(id: string): Promise<QueueJob | 'not-found'> {
    const producer = this.producerTo('running a scheduler');
    const recurrence = await asked(producer.recurrence(idOf(id), this.ofQueue));
    if (!recurrence) return 'not-found';
    return this.added(await asked(producer.runRecurrenceNow(recurrence)), recurrence.payload);
  }

  /** No limit is shown: it is an option of the processes. Of all pages only the list of queues asks, in the moment in which it asks for counts. */
  async getGlobalConcurrency(): Promise<null> {
    this.isListed = true;
    queueMicrotask(() => {
      this.isListed = false;
    });
    return null;
  }

  private async counts(): Promise<JobCounts> {
    const { due, scheduled, active, completed, dead } = await this.inspector.counts(this.ofQueue);
    return { ...NO_JOBS, active, waiting: due, delayed: scheduled, failed: dead, completed };
  }

  private get ofQueue(): { queue: string } {
    return { queue: this.queue };
  }

  private producerTo(action: string): ScheduledQueueProducer {
    if (this.producer) return this.producer;
    throw refused(`This board does not allow ${action}: its ScheduledQueueAdapter was made without a producer.`);
  }

  /** A job that was just scheduled, and may have ended by now. */
  private added({ id, queue, name, dueAt }: ScheduledJobRef, payload: unknown, version = FIRST_VERSION): BoardJob {
    const createdAt = new Date();
    return this.shown({
      id,
      queue,
      name,
      version,
      state: (dueAt ?? createdAt) > createdAt ? 'scheduled' : 'due',
      payload,
      headers: {},
      tags: [],
      priority: DEFAULT_PRIORITY,
      dueAt: dueAt ?? createdAt,
      createdAt,
      attempts: 0,
      crashes: 0,
      failures: [],
    });
  }

  private shown(job: InspectedJob): BoardJob {
    return new BoardJob(this.calls, this.redaction.redactJob(job));
  }
}

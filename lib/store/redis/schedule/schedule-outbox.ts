import { QueueClosedError } from '../../../core/errors.js';
import { outsideJobs } from '../../../core/job/current-job.js';
import type { JobIdMaker } from '../../../core/job/job-id.js';
import type { Answered, NewJob, ScheduledAnswer } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import { aboutJob, NOT_SENT, unavailable } from '../link/call-error.js';
import type { RedisLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import { ScheduleBatch } from './schedule-batch.js';
import { type PendingSchedule, ScheduleSender, type ScheduleSenderOptions } from './schedule-sender.js';

/** At most this many jobs a call: a script of 250 runs about 1 ms, and Redis serves nobody else meanwhile. */
const JOBS_A_CALL = 250;
/** A job of a group counts as several: mostly it has a lane of its own, which costs Redis more than the job. */
const COST_OF_GROUPED = 2.5;
/** And at most this much payload, less on a slow link, unless one job alone has more. */
const CHARACTERS_A_CALL = 4 * 1024 * 1024;
/** So that Redis has a call to run while another is being made or its answers are taken in. */
const CALLS_IN_FLIGHT = 6;
/** A further call is worth its cost where it carries at least this many; fewer wait for an answer, and for others. */
const WORTH_A_CALL = 100;

/**
 * Schedules of one queue on their way to Redis. What is scheduled while a call is under way goes together in the next
 * one, so a thousand calls of one moment cost four, and a single call waits for nobody.
 */
export class ScheduleOutbox {
  private waiting: PendingSchedule[] = [];
  private readonly senders: readonly ScheduleSender[];
  /** Those that are not under way. */
  private readonly idle: ScheduleSender[];

  constructor(
    private readonly connection: RedisLink,
    clock: ServerClock,
    keys: QueueKeys,
    ids: JobIdMaker,
    private readonly options: ScheduleSenderOptions,
  ) {
    this.senders = Array.from(
      { length: CALLS_IN_FLIGHT },
      () => new ScheduleSender(connection, clock, keys, ids, options),
    );
    this.idle = [...this.senders];
  }

  add(job: NewJob): Promise<ScheduledAnswer> {
    return new Promise((resolve, reject) => this.push({ job, giveUpAt: this.giveUpAt(), resolve, reject }));
  }

  /** Resolves once `answered` has heard of each. */
  addMany(jobs: readonly NewJob[], answered: Answered): Promise<void> {
    return new Promise((resolve) => {
      if (jobs.length === 0) resolve();
      const batch = new ScheduleBatch(jobs.length, this.giveUpAt(), answered, resolve);
      jobs.forEach((job, index) => {
        this.push(batch.pending(job, index));
      });
    });
  }

  private giveUpAt(): number {
    return this.connection.now() + this.options.commandTimeoutMs;
  }

  private push(pending: PendingSchedule): void {
    this.waiting.push(pending);
    // Nothing is under way: what else is scheduled in this moment goes along.
    if (this.waiting.length === 1 && this.idle.length === this.senders.length) this.start();
  }

  private start(): void {
    const sender = this.idle.pop()!;
    // The first of these calls may come from a handler, and the last from elsewhere, long after.
    // By a promise: fake timers of a test runner replace `queueMicrotask`.
    void Promise.resolve().then(() => outsideJobs(() => void this.sendAll(sender)));
  }

  private async sendAll(sender: ScheduleSender): Promise<void> {
    while (this.waiting.length > 0) {
      if (!(await this.reachable())) continue;
      const [first] = this.waiting;
      // Another sender may have taken all waiting calls meanwhile.
      if (!first) break;
      if (this.comesTooLate(first)) this.refuseOverdue(unavailable(NOT_SENT, false));
      const calls = this.take();
      if (calls.length === 0) break;
      const sent = sender.send(calls);
      if (this.waiting.length >= WORTH_A_CALL && this.idle.length > 0) this.start();
      await sent;
    }
    this.idle.push(sender);
  }

  /** While Redis is away, each call waits its own time out and nothing is sent. */
  private async reachable(): Promise<boolean> {
    try {
      await this.connection.ready(this.waiting[0]!.giveUpAt);
      return true;
    } catch (error) {
      this.refuseOverdue(error);
      return false;
    }
  }

  /** Rejects the calls that have waited for their whole time without having been sent. */
  private refuseOverdue(error: unknown): void {
    const isOver = (call: PendingSchedule) => error instanceof QueueClosedError || this.comesTooLate(call);
    // They wait in the order in which they were made, so the first whose time is not over ends the search.
    while (this.waiting.length > 0 && isOver(this.waiting[0]!)) {
      const call = this.waiting.shift()!;
      call.reject(aboutJob(error, { queue: this.options.queue, jobName: call.job.name, jobId: call.job.id }));
    }
  }

  private comesTooLate({ job, giveUpAt }: PendingSchedule): boolean {
    const calledAt = giveUpAt - this.options.commandTimeoutMs;
    return this.connection.uplink.comesTooLate(job.payload.length, calledAt, giveUpAt);
  }

  private take(): PendingSchedule[] {
    let characters = 0;
    let end = 0;
    let cost = 0;
    const most = Math.min(CHARACTERS_A_CALL, this.connection.uplink.most);
    while (end < this.waiting.length && cost < JOBS_A_CALL) {
      const { payload, group } = this.waiting[end]!.job;
      characters += payload.length;
      if (end > 0 && characters > most) break;
      cost += group === undefined ? 1 : COST_OF_GROUPED;
      end++;
    }
    return this.waiting.splice(0, end);
  }
}

import type { JobIdMaker } from '../../../core/job/job-id.js';
import type { NewJob, ScheduledAnswer } from '../../job-store.js';
import { Caller, type CallerOptions } from '../calls/caller.js';
import type { QueueKeys } from '../keys.js';
import { aboutJob } from '../link/call-error.js';
import type { RedisLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import { type ScheduleReply, scheduleScript } from '../scripts/schedule/contract.js';
import { SET_OVER, SharedArguments, setOver, statusOf } from './shared-arguments.js';

/** A job on its way, and who waits for the answer. */
export interface PendingSchedule {
  job: NewJob;
  giveUpAt: number;
  resolve(answer: ScheduledAnswer): void;
  reject(error: unknown): void;
}

export interface ScheduleSenderOptions extends CallerOptions {
  queue: string;
  commandTimeoutMs: number;
}

/**
 * Sends schedules of one queue, one call at a time, in the order of the calls: so the receipt of the last one tells whether
 * any ran. Ids are made as a call is sent.
 */
export class ScheduleSender {
  private readonly caller: Caller;
  /** The last id made under the caller's name. */
  private lastMade = '-';
  private readonly script;

  constructor(
    connection: RedisLink,
    clock: ServerClock,
    keys: QueueKeys,
    private readonly ids: JobIdMaker,
    private readonly options: ScheduleSenderOptions,
  ) {
    this.caller = new Caller(connection, clock, keys, options);
    this.script = scheduleScript(keys);
  }

  /** Resolves once each of them has been answered, with its job or with an error. */
  async send(calls: readonly PendingSchedule[]): Promise<void> {
    const { options } = this;
    const ids: string[] = [];
    const made: string[] = [];
    const shared = new SharedArguments();
    let bytes = 0;
    try {
      for (const { job } of calls) {
        bytes += job.payload.length;
        const id = job.id ?? this.ids.next(this.caller.name, Date.now());
        if (job.id === undefined) made.push(id);
        ids.push(id);
        shared.add(job, id);
      }
      this.caller.begin();
      const lowestMade = made[0] ?? this.lastMade;
      this.lastMade = made.at(-1) ?? this.lastMade;
      const args = {
        lowestMade,
        highestMade: this.lastMade,
        rows: shared.toArguments(),
      };
      const reply = await this.caller.send(this.script, args, calls[0]!.giveUpAt, { bytes });
      answer(options.queue, calls, ids, reply);
    } catch (error) {
      this.caller.rename();
      this.lastMade = '-';
      for (const [i, call] of calls.entries()) {
        call.reject(aboutJob(error, { queue: options.queue, jobName: call.job.name, jobId: ids[i]! }));
      }
    }
  }
}

function answer(
  queue: string,
  calls: readonly PendingSchedule[],
  ids: string[],
  [, , takenAt, letters, ...duplicates]: ScheduleReply,
): void {
  const takenAtMs = Number(takenAt);
  let nextDuplicate = 0;
  calls.forEach((call, i) => {
    const id = ids[i]!;
    if (letters[i] === SET_OVER) {
      call.reject(setOver(call.job, queue, id));
      return;
    }
    const status = statusOf(letters[i]!);
    if (status === 'created') call.resolve({ id, status, dueAtMs: dueOf(call.job, takenAtMs) });
    else if (status === 'ended') call.resolve({ id, status, dueAtMs: null });
    else call.resolve({ id, status, ...readDuplicate(duplicates[nextDuplicate++]!) });
  });
}

/** "<due>", or "<due> <name>" of a job of another name, which may hold spaces. */
function readDuplicate(text: string): { dueAtMs: number; takenBy?: string } {
  const space = text.indexOf(' ');
  if (space < 0) return { dueAtMs: Number(text) };
  return { dueAtMs: Number(text.slice(0, space)), takenBy: text.slice(space + 1) };
}

/** As the script computes it: a job is never due before the whole millisecond in which its time is over. */
function dueOf(job: NewJob, takenAtMs: number): number {
  return Math.ceil('at' in job.due ? job.due.at : takenAtMs + job.due.delayMs);
}

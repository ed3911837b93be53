import { QueueClosedError } from '../../core/errors.js';
import { JobIdMaker, looksMade } from '../../core/job-id.js';
import { encodeEnvelopeRest, encodeHead } from '../envelope.js';
import type { NewJob, ScheduledAnswer } from '../job-store.js';
import type { QueueKeys } from '../keys.js';
import { aboutJob } from './call-error.js';
import { CallSlot } from './call-slot.js';
import type { RedisConnection, ScriptArgument } from './connection.js';
import { toDueArgument } from './due-argument.js';
import type { ServerClock } from './server-clock.js';

/** At most this many jobs a call: a script of 400 runs about 2 ms, and Redis serves nobody else meanwhile. */
const JOBS_A_CALL = 400;
/** And at most this much payload, unless one job alone has more. */
const CHARACTERS_A_CALL = 4 * 1024 * 1024;

interface Waiting {
  job: NewJob;
  giveUpAt: number;
  resolve(answer: ScheduledAnswer): void;
  reject(error: unknown): void;
}

/**
 * Schedules of one queue on their way to Redis. What is scheduled while a call is under way goes together in the next
 * one, so a thousand calls of one moment cost three round trips, and a single call waits for nobody.
 * One call in flight, in the order of the calls: so the record of the last one tells whether any ran.
 */
export class ScheduleOutbox {
  private waiting: Waiting[] = [];
  private sending = false;
  /** The last id made under the slot's name. */
  private lastMade = '-';
  private readonly slot: CallSlot;

  constructor(
    private readonly connection: RedisConnection,
    clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly ids: JobIdMaker,
    private readonly options: {
      queue: string;
      clustered: boolean;
      keepRecordMs: number;
      stealAfterMs: number;
      commandTimeoutMs: number;
    },
  ) {
    this.slot = new CallSlot(connection, clock, keys);
  }

  add(job: NewJob): Promise<ScheduledAnswer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ job, giveUpAt: performance.now() + this.options.commandTimeoutMs, resolve, reject });
      if (this.sending) return;
      this.sending = true;
      queueMicrotask(() => this.sendAll());
    });
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0) {
      if (await this.reachable()) await this.send(this.take());
    }
    this.sending = false;
  }

  /** While Redis is away, each call waits its own time out and nothing is sent. */
  private async reachable(): Promise<boolean> {
    try {
      await this.connection.ready(this.waiting[0]!.giveUpAt);
      return true;
    } catch (error) {
      const now = performance.now();
      const isOver = (call: Waiting) => error instanceof QueueClosedError || call.giveUpAt <= now;
      // In the order of their calls, so the first whose time is not over ends the search.
      while (this.waiting.length > 0 && isOver(this.waiting[0]!)) {
        const { job, reject } = this.waiting.shift()!;
        reject(aboutJob(error, { queue: this.options.queue, jobName: job.name, jobId: job.id }));
      }
      return false;
    }
  }

  private take(): Waiting[] {
    let characters = 0;
    let end = 0;
    while (end < this.waiting.length && end < JOBS_A_CALL) {
      characters += this.waiting[end]!.job.payload.length;
      if (end > 0 && characters > CHARACTERS_A_CALL) break;
      end++;
    }
    return this.waiting.splice(0, end);
  }

  private async send(calls: Waiting[]): Promise<void> {
    const { keys, options } = this;
    const ids: string[] = [];
    const made: string[] = [];
    const args: ScriptArgument[] = [];
    for (const { job } of calls) {
      const id = job.id ?? this.ids.next(this.slot.caller);
      if (job.id === undefined) made.push(id);
      const chosen = job.id === undefined ? '' : howChosen(id);
      const rest = encodeEnvelopeRest(job, job.id !== undefined);
      ids.push(id);
      args.push(id, chosen, encodeHead(job), toDueArgument(job.due), rest);
    }
    const fixedKeys = [
      keys.jobs,
      keys.claims,
      keys.ended,
      keys.stats,
      keys.completed,
      keys.finished,
      keys.levels,
      keys.groups,
    ];
    try {
      this.slot.begin();
      const lowest = made[0] ?? this.lastMade;
      this.lastMade = made.at(-1) ?? this.lastMade;
      const head = [options.keepRecordMs, options.clustered ? 1 : 0, lowest, this.lastMade, options.stealAfterMs];
      const reply = await this.slot.send('schedule', fixedKeys, [...head, ...args], calls[0]!.giveUpAt);
      this.answer(calls, ids, reply as string[]);
    } catch (error) {
      this.slot.rename();
      this.lastMade = '-';
      for (const [i, call] of calls.entries()) {
        call.reject(aboutJob(error, { queue: options.queue, jobName: call.job.name, jobId: ids[i]! }));
      }
    }
  }

  private answer(calls: Waiting[], ids: string[], [, , takenAt, bits, ...duplicates]: string[]): void {
    let nextDuplicate = 0;
    calls.forEach(({ job, resolve }, i) => {
      const created = bits![i] === '1';
      const dueAtMs = created ? dueOf(job, Number(takenAt)) : Number(duplicates[nextDuplicate++]);
      resolve({ id: ids[i]!, dueAtMs, created });
    });
  }
}

/** As the script computes it. */
function dueOf(job: NewJob, takenAtMs: number): number {
  return 'at' in job.due ? Math.max(job.due.at, takenAtMs) : takenAtMs + job.due.delayMs;
}

/** How a caller's own id looks to the scripts: `m` may be one that was made for a call which ended in an error. */
export function howChosen(id: string): 'm' | 'c' {
  return looksMade(id) ? 'm' : 'c';
}

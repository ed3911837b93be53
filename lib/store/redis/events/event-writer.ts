import { describeError } from '../../../core/error-description.js';
import { QueueClosedError, QueueUnavailableError } from '../../../core/errors.js';
import { outsideJobs } from '../../../core/job/current-job.js';
import type { ScheduledQueueEvent } from '../../../core/job/events.js';
import type { Log } from '../../../core/log.js';
import type { Caller } from '../calls/caller.js';
import { GAP_LINE, toEventLine } from '../codec/event-text.js';
import type { QueueKeys } from '../keys.js';
import { addEventsScript } from '../scripts/events/contract.js';

/** Events are gathered for so long, so that a process writes at most a hundred times a second however its jobs trickle in. */
const GATHERED_MS = 10;
/** So many are written at once. */
const ENOUGH = 500;
/** One write carries no more. A reader, and the script, read an entry whole. */
const MOST_A_WRITE = 1_000;
const MOST_CHARACTERS_A_WRITE = 64 * 1_024;
/** No more wait for Redis in this process, an outage included. */
const MOST_WAITING = 50_000;
const MOST_CHARACTERS_WAITING = 8 * 1_024 * 1_024;
/** Shorter than a receipt is kept, so that a write which is sent again within this time is not added twice. */
const GIVE_UP_MS = 30_000;
const TRIED_AGAIN_MS = 1_000;

/**
 * Adds the events of this process to the stream of one queue: one write at a time, which carries all that has been told meanwhile. No
 * job waits for it. While Redis is away events wait here, up to a bound. What is dropped then, and a write of which nobody knows whether
 * it has happened, is told as a gap.
 */
export class EventWriter {
  private lines: string[] = [];
  private characters = 0;
  /** The last line stands for those that were dropped since. */
  private drops = false;
  private timer?: NodeJS.Timeout;
  private writing?: Promise<void>;
  private flushes = false;
  private closed = false;
  private refusal?: string;
  private readonly script;

  constructor(
    private readonly caller: Caller,
    keys: QueueKeys,
    private readonly options: { queue: string; maxLength: number; log: Log },
  ) {
    this.script = addEventsScript(keys);
  }

  add(event: ScheduledQueueEvent): void {
    if (this.closed) return;
    if (this.lines.length < MOST_WAITING && this.characters < MOST_CHARACTERS_WAITING) {
      this.drops = false;
      this.push(toEventLine(event));
    } else if (!this.drops) {
      this.drops = true;
      this.push(GAP_LINE);
    }
    this.writeSoon();
  }

  async flush(): Promise<void> {
    this.flushes = true;
    while (this.lines.length > 0 || this.writing) {
      if (!this.writing) this.write();
      await this.writing;
    }
    this.flushes = false;
  }

  private push(line: string): void {
    this.lines.push(line);
    this.characters += line.length;
  }

  private writeSoon(): void {
    if (this.writing || this.lines.length === 0) return;
    if (this.lines.length >= ENOUGH || this.flushes) this.write();
    else this.timer ??= setTimeout(outsideJobs, GATHERED_MS, () => this.write());
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.writing) return;
    this.writing = this.writeLines(this.take()).finally(() => {
      this.writing = undefined;
      this.writeSoon();
    });
  }

  /** The lines of the next write, at least one. */
  private take(): string[] {
    let count = 0;
    let characters = 0;
    while (count < Math.min(this.lines.length, MOST_A_WRITE) && characters < MOST_CHARACTERS_A_WRITE)
      characters += this.lines[count++]!.length;
    this.characters -= characters;
    return this.lines.splice(0, count);
  }

  /** Resolves once they are there, or never can be. Never throws. */
  private async writeLines(taken: string[]): Promise<void> {
    const { maxLength } = this.options;
    const lines = taken.join('\n');
    while (!this.closed) {
      try {
        this.caller.begin();
        const args = { count: taken.length, maxLength, lines };
        await this.caller.send(this.script, args, this.caller.now() + GIVE_UP_MS, { bytes: lines.length });
        this.goesOn();
        return;
      } catch (error) {
        this.caller.rename();
        if (error instanceof QueueClosedError) this.close();
        else if (error instanceof QueueUnavailableError && error.outcome === 'refused') await this.refused(error);
        else {
          this.lines.unshift(GAP_LINE);
          this.characters += GAP_LINE.length;
          return;
        }
      }
    }
  }

  /** Redis is away, which its own log line tells, or will not take the events. */
  private async refused(error: QueueUnavailableError): Promise<void> {
    const { message } = describeError(error);
    if (error.redisCode !== undefined && this.refusal !== message) {
      this.refusal = message;
      this.options.log.error(
        `The events of queue '${this.options.queue}' cannot be added to its stream, which is tried again every second: ${message}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, TRIED_AGAIN_MS).unref());
  }

  private goesOn(): void {
    if (this.refusal === undefined) return;
    this.refusal = undefined;
    this.options.log.log(`The events of queue '${this.options.queue}' are added to its stream again.`);
  }

  /** The connection is gone for good. */
  private close(): void {
    this.closed = true;
    this.lines = [];
    this.characters = 0;
  }
}

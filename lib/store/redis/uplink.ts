import { QueueUnavailableError } from '../../core/errors.js';
import { LinkRate, TELLING_BYTES } from './link-rate.js';
import type { Waits } from './waits.js';

/** So much may be under way on the fastest link: every sender of a queue with a full call. */
const MOST_BYTES = 24 * 1024 * 1024;

/** What is under way may take this part of the time after which a silent connection counts as dead. */
const PART_OF_A_SILENCE = 1 / 4;

/**
 * Lets no more be under way to Redis at once than the link has lately carried in a short time: so answers keep coming, which are the
 * only sign of life there is. What has left the process tells little, as the kernel takes megabytes that it has yet to send. Small
 * calls go as they come.
 */
export class Uplink {
  private readonly rate = new LinkRate();
  private readonly withinMs: number;
  private underWay = 0;
  private arrived = 0;
  /** Large calls that have to wait for others, in their order. */
  private readonly waiting: { bytes: number; admit(): void }[] = [];

  constructor(
    silenceMs: number,
    private readonly waits: Waits,
  ) {
    this.withinMs = silenceMs * PART_OF_A_SILENCE;
  }

  /** Whether a call with so much payload may have to wait for others. */
  static isLarge(bytes: number): boolean {
    return bytes >= TELLING_BYTES;
  }

  /** How much may be under way at once: no call should have more. */
  get most(): number {
    return this.rate.bytesIn(this.withinMs, MOST_BYTES);
  }

  /** How long what is under way should take; 0 while nothing is known. */
  get expectedMs(): number {
    return this.rate.msFor(this.underWay);
  }

  /** Whether the time of a call is over, or it has waited for longer than it has left and would most likely arrive too late. */
  comesTooLate(bytes: number, calledAt: number, giveUpAt: number): boolean {
    const now = performance.now();
    const leftMs = giveUpAt - now;
    return leftMs <= 0 || (leftMs < now - calledAt && leftMs < this.rate.msFor(bytes) / 2);
  }

  /** Makes a large call once there is room for it; one alone always has. Where its time is over before, the call is to say so. */
  async carry<T>(bytes: number, call: () => Promise<T>, giveUpAt: number): Promise<T> {
    if (!(await this.admitted(bytes, giveUpAt))) return call();
    const beganAt = performance.now();
    const before = this.arrived;
    try {
      const answer = await call();
      this.arrived += bytes;
      // Also what arrived meanwhile of others took its part of the link.
      this.rate.note(this.arrived - before, performance.now() - beganAt);
      return answer;
    } catch (error) {
      if (error instanceof QueueUnavailableError && error.outcome === 'unknown')
        this.rate.note(bytes, performance.now() - beganAt);
      throw error;
    } finally {
      this.underWay -= bytes;
      this.admitNext();
    }
  }

  /** The connection was given up after so long: no more than what was under way has arrived. */
  wasTooSlow(ms: number): void {
    this.rate.note(this.underWay, ms);
  }

  private admitted(bytes: number, giveUpAt: number): Promise<boolean> {
    return new Promise((resolve) => {
      const callOff = this.waits.until(giveUpAt, () => {
        this.waiting.splice(this.waiting.indexOf(place), 1);
        resolve(false);
        this.admitNext();
      });
      const place = {
        bytes,
        admit: () => {
          callOff();
          resolve(true);
        },
      };
      this.waiting.push(place);
      this.admitNext();
    });
  }

  private admitNext(): void {
    for (let next = this.waiting[0]; next && this.hasRoomFor(next.bytes); next = this.waiting[0]) {
      this.waiting.shift();
      this.underWay += next.bytes;
      next.admit();
    }
  }

  private hasRoomFor(bytes: number): boolean {
    return this.underWay === 0 || this.underWay + bytes <= this.most;
  }
}

import { QueueUnavailableError } from '../../../core/errors.js';
import { LinkRate, TELLING_BYTES } from './link-rate.js';
import type { Waits } from './waits.js';

/** The most that may be under way, on the fastest link: a full call of each sender of a queue. */
const MOST_BYTES = 24 * 1024 * 1024;

/** The calls under way may take this part of the time after which a silent connection counts as dead. */
const PART_OF_A_SILENCE = 1 / 4;

/**
 * Holds large calls back, so that no more is under way to Redis than the link has lately carried in a short time. Answers then keep
 * coming, and answers are the only sign of life while data goes up: the kernel takes megabytes at once and sends them later without a
 * sign. Small calls never wait here.
 */
export class Uplink {
  private readonly rate = new LinkRate();
  private readonly withinMs: number;
  private underWay = 0;
  private arrived = 0;
  /** Large calls that wait for those under way, in their order. */
  private readonly waiting: { bytes: number; admit(): void }[] = [];

  constructor(
    silenceMs: number,
    private readonly waits: Waits,
  ) {
    this.withinMs = silenceMs * PART_OF_A_SILENCE;
  }

  /** Whether a call with this much payload counts as large, and so may have to wait. */
  static isLarge(bytes: number): boolean {
    return bytes >= TELLING_BYTES;
  }

  /** How much may be under way at once. No call should carry more. */
  get most(): number {
    return this.rate.bytesIn(this.withinMs, MOST_BYTES);
  }

  /** How long the calls under way should take; 0 while nothing is known of the link. */
  get expectedMs(): number {
    return this.rate.msFor(this.underWay);
  }

  /** True if a call's time is over. Also if the call has waited longer than it has left, and the link would most likely take too long. */
  comesTooLate(bytes: number, calledAt: number, giveUpAt: number): boolean {
    const now = performance.now();
    const leftMs = giveUpAt - now;
    return leftMs <= 0 || (leftMs < now - calledAt && leftMs < this.rate.msFor(bytes) / 2);
  }

  /** Makes a large call once there is room; a call that is alone always has room. If its time is over first, `call` has to say so. */
  async carry<T>(bytes: number, call: () => Promise<T>, giveUpAt: number): Promise<T> {
    if (!(await this.admitted(bytes, giveUpAt))) return call();
    const beganAt = performance.now();
    const before = this.arrived;
    try {
      const answer = await call();
      this.arrived += bytes;
      // Other calls that arrived meanwhile used the link as well.
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

  /** The connection was given up after `ms` of silence: the link has carried at most what was under way. */
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

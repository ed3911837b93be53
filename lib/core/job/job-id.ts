import { randomInt } from 'node:crypto';

const TIME_DIGITS = 9;
const COUNTER_DIGITS = 3;
const MAKER_DIGITS = 6;
const COUNTER_END = 36 ** COUNTER_DIGITS;

/** Whether an id has the form of a made one: digits of base 36 for time, counter and maker. */
export function looksMade(id: string): boolean {
  return /^[0-9a-z]{18}$/.test(id);
}

/** A random name for a maker of ids: its ids carry it, and so does the record of its calls. */
export function newMaker(): string {
  return base36(randomInt(36 ** MAKER_DIGITS), MAKER_DIGITS);
}

/**
 * Makes ids that grow, so that they sort in schedule order, inside a millisecond as well and when the clock goes back.
 * Digits and lower-case letters only: they sort alike by bytes and in every locale, which Lua's comparison follows.
 */
export class JobIdMaker {
  private timeMs = -1;
  private timeText = '';
  private counter = 0;

  /** `nowMs`: the time of day in epoch milliseconds. */
  next(maker: string, nowMs: number): string {
    // Whole and not negative, also where somebody has put another clock in the place of Date: all ids are of one length.
    const wholeMs = Math.max(0, Math.floor(nowMs));
    if (wholeMs > this.timeMs) this.startAt(wholeMs);
    else if (++this.counter === COUNTER_END) this.startAt(this.timeMs + 1);
    return this.timeText + base36(this.counter, COUNTER_DIGITS) + maker;
  }

  private startAt(timeMs: number): void {
    this.timeMs = timeMs;
    this.timeText = base36(timeMs, TIME_DIGITS);
    this.counter = 0;
  }
}

function base36(value: number, digits: number): string {
  return value.toString(36).padStart(digits, '0');
}

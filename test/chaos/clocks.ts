import type { ClockLine, Line } from './history.js';

/** An instant of Redis' clock, epoch ms, as narrowly as it is known. */
export interface Instant {
  earliest: number;
  latest: number;
}

interface Reading {
  mono: number;
  /** What must be added to the monotonic clock at the least, and at the most. */
  low: number;
  high: number;
}

/** A reading is as good as its question was short; one so near to an instant stands for it. */
const NEAR_MS = 2_000;
/** For the drift of one clock against the other since the reading, and for what was rounded. */
const MARGIN_MS = 1;

/**
 * Redis' clock against the monotonic clock that all processes share. Redis was asked for its time again and again; its
 * answer was true at some instant between question and answer, so each reading bounds the difference of the two.
 */
export class Clocks {
  private readonly readings: Reading[];

  constructor(lines: readonly Line[]) {
    this.readings = lines
      .filter((line): line is Line & ClockLine => line.type === 'clock')
      .map(({ mono, from, time }) => ({ mono, low: time - mono, high: time - from }));
    if (this.readings.length === 0) throw new Error('The history says nothing of the clock of Redis.');
  }

  /** When it was by Redis' clock at an instant of the monotonic clock. */
  at(mono: number): Instant {
    const { low, high } = this.readingFor(mono);
    return { earliest: mono + low - MARGIN_MS, latest: mono + high + MARGIN_MS };
  }

  private readingFor(mono: number): Reading {
    let from = this.firstAfter(mono - NEAR_MS);
    const to = this.firstAfter(mono + NEAR_MS);
    let best = this.readings[Math.min(from, this.readings.length - 1)]!;
    for (; from < to; from++) {
      const reading = this.readings[from]!;
      if (reading.high - reading.low < best.high - best.low) best = reading;
    }
    return best;
  }

  private firstAfter(mono: number): number {
    let [low, high] = [0, this.readings.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.readings[middle]!.mono < mono) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

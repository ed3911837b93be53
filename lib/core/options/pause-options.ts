import type { Duration } from '../read/duration.js';
import { keyPart } from '../read/names.js';
import { duration, type Shape } from '../read/shape.js';

export interface PauseOptions {
  /** For how long, by Redis' clock, at least 1. Default: until `resume`. */
  forMs?: Duration;
  queue?: string;
}

export const PAUSE_OPTIONS: Shape<{ forMs: number; queue: string }> = { forMs: duration(1), queue: keyPart };

import type { RateRule } from './queue-options.js';

/** What was set for one group. What is left out falls back to the options of the queue. */
export interface GroupSettings {
  /** How many turns the group has for each one of a group of weight 1. */
  weight?: number;
  concurrency?: number | 'unlimited';
  rateLimit?: RateRule | 'unlimited';
}

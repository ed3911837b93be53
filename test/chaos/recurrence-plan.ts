import { Dice } from './dice.js';
import { RECURRENCE_IDS, RECURRENCES, type Treatment } from './recurrences.js';

export type PlannedRecurrenceOperation = { pauseMs: number; recurrence: string } & (
  | { operation: 'upsert' | 'pause' | 'resume' | 'runNow' }
  /** Of the occurrence that is due next but so many: mostly the armed one is meant. */
  | { operation: 'cancel'; ahead: number }
  /** Of the time before now. */
  | { operation: 'backfill'; reachMs: number }
);

const MEAN_PAUSE_MS = 300;

/** Resumed more often than paused, so that it mostly recurs. */
const OPERATIONS = [
  ['upsert', 6],
  ['pause', 2],
  ['resume', 4],
  ['runNow', 2],
  ['cancel', 3],
  ['backfill', 2],
] as const;

const TREATED = { pause: 'pause', resume: 'pause', runNow: 'pause', cancel: 'cancel', backfill: 'backfill' } as const;

/** What one producer does to the recurrences, without end; by dice of its own, so that its other work is the same as without. */
export function* planRecurrenceWork(seed: number, producer: string): Generator<PlannedRecurrenceOperation> {
  const dice = new Dice(seed, producer, 'recurrences');
  for (;;) {
    const pauseMs = dice.gapMs(MEAN_PAUSE_MS);
    const operation = dice.weighted(OPERATIONS);
    if (operation === 'upsert') yield { pauseMs, operation, recurrence: dice.pick(RECURRENCE_IDS) };
    else {
      const recurrence = dice.pick(treatedBy(TREATED[operation]));
      if (operation === 'cancel')
        yield {
          pauseMs,
          operation,
          recurrence,
          ahead: dice.weighted([
            [0, 4],
            [1, 1],
          ]),
        };
      else if (operation === 'backfill') yield { pauseMs, operation, recurrence, reachMs: dice.between(500, 5_000) };
      else yield { pauseMs, operation, recurrence };
    }
  }
}

function treatedBy(treatment: Treatment): string[] {
  return RECURRENCE_IDS.filter((id) => RECURRENCES[id]!.treatment === treatment);
}

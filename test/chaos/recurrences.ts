// The recurrences of a run: what producers upsert, and by what the checker judges the jobs that come of them.
import type { QueueName } from './settings.js';

/** What producers do to it besides upserting it again and again. Each has a recurrence of its own, so that the others are judged strictly. */
export type Treatment = 'pause' | 'cancel' | 'backfill';

export interface ChaosRecurrence {
  queue: QueueName;
  /** Its nominal instants: the multiples of this since the epoch, plus `offsetMs`. */
  stepMs: number;
  offsetMs?: number;
  /** Written as a cron rule, so that processes compute its instants ahead; otherwise Redis reckons them. */
  cron?: string;
  timeZone?: string;
  jitterMs?: number;
  /** A queueing one has occurrences that take longer than a step, and some that fail once. */
  overlap?: 'queue';
  treatment?: Treatment;
}

export const RECURRENCES: Readonly<Record<string, ChaosRecurrence>> = {
  'recurs:every': { queue: 'default', stepMs: 1_000 },
  'recurs:offset': { queue: 'kept', stepMs: 900, offsetMs: 130 },
  'recurs:cron': { queue: 'kept', stepMs: 1_000, cron: '* * * * * *', timeZone: 'Europe/Berlin' },
  'recurs:steps': { queue: 'default', stepMs: 2_000, cron: '*/2 * * * * *', timeZone: 'America/New_York' },
  'recurs:jitter': { queue: 'default', stepMs: 1_000, jitterMs: 700 },
  'recurs:one-by-one': { queue: 'kept', stepMs: 800, overlap: 'queue' },
  'recurs:paused': { queue: 'default', stepMs: 600, treatment: 'pause' },
  'recurs:cancelled': { queue: 'kept', stepMs: 700, treatment: 'cancel' },
  'recurs:backfilled': { queue: 'kept', stepMs: 800, treatment: 'backfill' },
};

export const RECURRENCE_IDS = Object.keys(RECURRENCES);

/** The rule as it is upserted: nothing that is missed is left out, however long a fault lasts. */
export function ruleOf({ stepMs, offsetMs, cron, timeZone, jitterMs, overlap }: ChaosRecurrence) {
  const policy = {
    onMissed: 'all',
    missedWithin: '1 day',
    ...(jitterMs && { jitterMs }),
    ...(overlap && { overlap }),
  } as const;
  if (cron) return { cron, timeZone, ...policy };
  return { everyMs: stepMs, ...(offsetMs && { offsetMs }), ...policy };
}

/** What the handler does in one occurrence. Told by its instant, so that it does the same in every process and attempt. */
export function workOf({ stepMs, overlap }: ChaosRecurrence, at: number): { workMs: number; fails: number } {
  if (overlap !== 'queue') return { workMs: 0, fails: 0 };
  const turn = Math.floor(at / stepMs) % 6;
  if (turn === 0) return { workMs: 1.5 * stepMs, fails: 0 };
  // Begun late, it waits for its retry when the next one is due, which must wait as well.
  if (turn === 1) return { workMs: 0.5 * stepMs, fails: 1 };
  return { workMs: 20, fails: 0 };
}

/** The recurrence and the nominal instant of an occurrence, as its id says them; undefined of any other job. */
export function occurrenceOf(id: string): { recurrence: string; at: number } | undefined {
  const [, recurrence = '', at] = id.match(/^(.*)@(\d+)$/) ?? [];
  return recurrence in RECURRENCES ? { recurrence, at: Number(at) } : undefined;
}

/** The first nominal instant after this one. */
export function instantAfter({ stepMs, offsetMs = 0 }: ChaosRecurrence, after: number): number {
  return (Math.floor((after - offsetMs) / stepMs) + 1) * stepMs + offsetMs;
}

/** The nominal instants between these, both left out. */
export function instantsBetween(recurrence: ChaosRecurrence, from: number, to: number): number[] {
  const instants: number[] = [];
  for (let at = instantAfter(recurrence, from); at < to; at += recurrence.stepMs) instants.push(at);
  return instants;
}

export function isInstant(recurrence: ChaosRecurrence, at: number): boolean {
  return instantAfter(recurrence, at - 1) === at;
}

import type { Context } from '../benchmark.js';
import type { Handle, Payload, Session } from '../contestants/contestant.js';
import { payloadOf } from './payloads.js';

/** How long before it is due a job is scheduled. */
const LEAD_MS = 1_000;
const TICK_MS = 10;

/** Notes how late jobs start, by the clock of this machine, which is Redis' own. */
export class Starts {
  /** In ms, in the order in which they started. */
  readonly lateMs: number[] = [];
  private readonly waiting: { count: number; resolve: () => void }[] = [];

  /** What the handler does: the due time stands in the payload. */
  readonly handle: Handle = (stored) => {
    const { dueAt } = (typeof stored === 'string' ? JSON.parse(stored) : stored) as { dueAt: number };
    this.lateMs.push(Date.now() - dueAt);
    for (const { count, resolve } of this.waiting) if (this.lateMs.length >= count) resolve();
  };

  /** Resolves once so many have started. */
  async reached(count: number): Promise<void> {
    if (this.lateMs.length >= count) return;
    await new Promise<void>((resolve) => this.waiting.push({ count, resolve }));
  }
}

export async function openForStarts(context: Context, concurrency: number): Promise<[Session, Starts]> {
  const starts = new Starts();
  const session = await context.open({ concurrency, handle: starts.handle, delayed: true });
  await session.start();
  return [session, starts];
}

/** Runs so many jobs that are due at once, so that nobody is measured by code that runs for the first time. */
export async function warmUp(session: Session, starts: Starts, count: number): Promise<void> {
  const dueAt = Date.now() + 500;
  await session.scheduleMany(Array.from({ length: count }, () => dueJob(dueAt)));
  await starts.reached(count);
}

/** A job that says when it is due. */
export const dueJob = (dueAt: number): { payload: Payload; dueAt: number } => ({
  payload: payloadOf({ dueAt }),
  dueAt,
});

/** Schedules so many jobs a second, one call for each, a second ahead, their due times anywhere within. */
export async function scheduleSteadily(session: Session, perSecond: number, seconds: number): Promise<number> {
  const from = Date.now() + LEAD_MS;
  const count = perSecond * seconds;
  const dues = Array.from({ length: count }, () => from + Math.floor(Math.random() * seconds * 1_000)).sort(
    (a, b) => a - b,
  );
  const calls: Promise<unknown>[] = [];
  for (let next = 0; next < count; ) {
    while (next < count && dues[next]! <= Date.now() + LEAD_MS) calls.push(session.schedule(dueJob(dues[next++]!)));
    await passed(TICK_MS);
  }
  await Promise.all(calls);
  return count;
}

export function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

import type { Context } from '../benchmark.js';
import type { Job, OpenOptions, Payload, Session } from '../contestants/contestant.js';
import { IN_AN_HOUR, type Jobs, jobs, makerOf, payloadOf } from './payloads.js';

/** Jobs a call of those who schedule many. */
export const BULK = 5_000;
/** Calls under way where each is for one job. */
const IN_FLIGHT = 1_000;
const THIRTY_DAYS_MS = 30 * 86_400_000;

/** Puts them there by calls for many, one call at a time. */
export async function fill(session: Session, count: number, job: Jobs): Promise<void> {
  for (let left = count; left > 0; left -= BULK) await session.scheduleMany(jobs(Math.min(left, BULK), job));
}

/** The same of jobs that differ. */
export async function fillWith(session: Session, all: readonly Job[]): Promise<void> {
  for (let from = 0; from < all.length; from += BULK) await session.scheduleMany(all.slice(from, from + BULK));
}

/** Jobs a second, one call for each, a thousand of them under way. */
export function scheduleRate(session: Session, count: number, job: Jobs): Promise<number> {
  const make = makerOf(job);
  return callRate(count, () => session.schedule(make()));
}

/** Calls a second, a thousand of them under way. Each is given its number, from 0. */
export async function callRate(count: number, call: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const caller = async () => {
    while (next < count) await call(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  return perSecond(count, performance.now() - started);
}

/** Jobs a second, 5 000 a call, one call at a time. */
export async function bulkRate(session: Session, count: number, job: Jobs): Promise<number> {
  const started = performance.now();
  await fill(session, count, job);
  return perSecond(count, performance.now() - started);
}

/** A job that is not due while the benchmark runs. */
export const waitingJob = (): Job => ({ payload: payloadOf(), dueAt: IN_AN_HOUR() });

/** Jobs that are due at random over thirty days, the first in an hour. */
export function scatteredJobs(): () => Job {
  const payload = payloadOf();
  const from = IN_AN_HOUR();
  return () => ({ payload, dueAt: from + Math.floor(Math.random() * THIRTY_DAYS_MS) });
}

export interface Drained {
  rate: number;
  redisCpu: number;
  nodeCpu: number;
}

export interface DrainOptions {
  count: number;
  concurrency: number;
  /** How many of them warm the process up and are not counted. Default: the first tenth. */
  warm?: number;
  payload?: Payload;
  /** What is counted: the jobs that Redis has forgotten, which takes a listener, or the calls of the handler. Default `'settled'`. */
  counts?: 'settled' | 'handled';
  /** What lies there beside the jobs that are due. */
  before?: (session: Session) => Promise<void>;
  /** Puts the jobs there that are drained; left out: in bulk, due now. */
  fill?: (session: Session) => Promise<void>;
  session?: Partial<OpenOptions>;
}

/**
 * Schedules jobs that are due at once, then runs them all with a handler that does nothing. The first of them warm the process
 * up. Counted from there until Redis has forgotten the last: jobs a second, and CPU time in µs a job of Redis and of this process.
 */
export async function drain(context: Context, options: DrainOptions): Promise<Drained> {
  const { count, concurrency, payload = payloadOf(), counts = 'settled', before } = options;
  const { warm = Math.floor(count / 10) } = options;
  let settled = 0;
  let started = 0;
  let nodeCpu: NodeJS.CpuUsage | undefined;
  let redis: Promise<{ micros: number; settled: number }> | undefined;
  const ask = async () => ({ micros: await context.probe.cpuMicros(), settled });
  let end!: (at: number) => void;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const onSettled = () => {
    settled++;
    if (settled === warm) {
      started = performance.now();
      nodeCpu = process.cpuUsage();
      redis = ask();
    }
    if (settled === count) end(performance.now());
  };
  const counted = counts === 'handled' ? { handle: onSettled } : { handle: () => {}, settled: onSettled };
  const session = await context.open({ concurrency, ...counted, ...options.session });
  await before?.(session);
  await (options.fill?.(session) ?? fill(session, count, { payload }));
  await session.start();
  const endedAt = await ended;
  const { user, system } = process.cpuUsage(nodeCpu!);
  const [first, last] = [await redis!, await ask()];
  return {
    rate: perSecond(count - warm, endedAt - started),
    redisCpu: (last.micros - first.micros) / (last.settled - first.settled),
    nodeCpu: (user + system) / (count - warm),
  };
}

/**
 * Jobs a second that are scheduled and drained beside jobs that wait, and Redis' CPU time of the first in µs a job, as figures
 * that end with the case's name. `bulk` is the rate at which the last tenth of those that wait came, 5 000 a call.
 */
export async function ratesBeside(context: Context, waiting: Jobs): Promise<Record<string, number>> {
  const { case: name, probe, size } = context;
  const figures: Record<string, number> = {};
  const { rate } = await drain(context, {
    count: size('jobs'),
    concurrency: 100,
    async before(session) {
      await fill(session, 0.9 * size('waiting'), waiting);
      figures[`bulk${name}`] = await bulkRate(session, size('waiting') / 10, waiting);
      await scheduleRate(session, size('jobs') / 10, waiting);
      const before = await probe.cpuMicros();
      figures[`schedule${name}`] = await scheduleRate(session, size('jobs'), waiting);
      figures[`scheduleCpu${name}`] = ((await probe.cpuMicros()) - before) / size('jobs');
    },
  });
  return { ...figures, [`drain${name}`]: rate };
}

function perSecond(count: number, ms: number): number {
  return (count / ms) * 1_000;
}

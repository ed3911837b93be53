import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Observers } from '../../../../lib/core/observe/observers.js';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import type { PayloadCodec } from '../../../../lib/core/payload/codec.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import type { ClaimedJob, Envelope, JobStore, Session, Turn, TurnAnswer } from '../../../../lib/store/job-store.js';
import { SuspectIsolation } from '../../../../lib/worker/capacity/suspect-isolation.js';
import { Pullers } from '../../../../lib/worker/pull/pullers.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { CARETAKERS, claimOf, EVENTS, LOG } from '../../../support/session-by-hand.js';

const LEASE_MS = 100;

/** Answers each turn at once. */
class AnsweringSession implements Session {
  hasLeft = false;
  readonly settled: string[] = [];

  constructor(private readonly claimed: readonly ClaimedJob[]) {}

  async turn(turn: Turn): Promise<TurnAnswer> {
    this.settled.push(...turn.settlements.map(({ transition }) => transition));
    const settled = turn.settlements.map(() => 'counted' as const);
    const none = { lost: [], toCancel: [], recovered: [], late: [], brokenJobs: [], deadDropped: [], completions: [] };
    return {
      ...none,
      settled,
      claimed: this.claimed.slice(0, turn.limit),
      sleepMs: 60_000,
      isContended: false,
      isWhole: false,
      freesNothingForOthers: false,
      skippedOccurrences: [],
      tendInMs: undefined,
      toTend: [],
      isUnconfirmed: false,
      expired: [],
      isReplay: false,
    };
  }

  listen(): void {}

  leave(): void {
    this.hasLeft = true;
  }
}

let decoding: { resolve(payload: unknown): void; reject(error: Error): void };
const SLOW: PayloadCodec = {
  id: 'slow',
  encode: () => '',
  decode: () => new Promise((resolve, reject) => (decoding = { resolve, reject })),
};
const encoded = (id: string): ClaimedJob => {
  const claim = claimOf(id);
  return { ...claim, envelope: { ...(claim.envelope as Envelope), codec: 'slow' } };
};

let pullers: Pullers;
let isolation: SuspectIsolation;
let clock: ManualClock;
const CLAIMED: Record<string, readonly ClaimedJob[]> = { holding: [claimOf('held')], encoded: [encoded('slow')] };
let sessions: Map<string, AnsweringSession[]>;

beforeEach(() => {
  sessions = new Map();
  clock = new ManualClock();
  isolation = new SuspectIsolation(clock);
  const pull = (_worker: string, [name]: readonly string[] = ['']) => {
    const session = new AnsweringSession(CLAIMED[name!] ?? []);
    sessions.set(name!, [...(sessions.get(name!) ?? []), session]);
    return session;
  };
  pullers = new Pullers({
    store: { queue: () => ({ sessions: { pull } }) } as unknown as JobStore,
    clock,
    events: EVENTS,
    observers: new Observers(),
    log: LOG,
    shutdownTimeoutMs: 1_000,
    workerId: 'w',
    codecs: new Codecs(new Map([['slow', SLOW]])),
    trackCurrentJob: false,
    commandTimeoutMs: 1_000,
    settingsOf: (queue) => ({ ...readQueueOptions(queue, {}), leaseMs: LEASE_MS }),
    maxPayloadBytes: 1_000,
    jobs: new Map(),
    isolation,
    caretakers: CARETAKERS,
    timerPrefix: 'test',
  });
});

afterEach(() => pullers.close(800));

async function pop(name: string, waitMs = 1) {
  const popped = pullers.pop({ queue: 'q', names: [name], count: 1, waitMs });
  if (waitMs === 1) await clock.elapse(waitMs);
  return await popped;
}
const hasLeft = (name: string) => sessions.get(name)!.every((session) => session.hasLeft);

it('a set of names that nobody has popped for a lease takes no memory', async () => {
  for (let i = 0; i < 20; i++) await pop(`name-${i}`);
  const removed = jest.spyOn(isolation, 'remove');
  await clock.elapse(LEASE_MS);
  for (let i = 0; i < 20; i++) await pop('again');
  expect(Array.from({ length: 20 }, (_, i) => hasLeft(`name-${i}`))).not.toContain(false);
  expect(sessions.get('again')).toHaveLength(1);
  // Nor is it asked any more whether it holds a job.
  expect(removed).toHaveBeenCalledTimes(20);
});

it('a set of names that nobody pops any more leaves no timer, which would keep the process alive', async () => {
  await pop('once');
  expect(clock.nextAt).toBeLessThan(Number.POSITIVE_INFINITY);
  await clock.elapse(LEASE_MS);
  await pop('other', 0);
  await pullers.close(800);
  expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
});

it('a set of names of which jobs are held, which somebody waits for, or which was popped just now keeps its place', async () => {
  const [job] = await pop('holding');
  const waiting = pop('waiting', 60_000);
  for (let quarter = 0; quarter < 5; quarter++) {
    await clock.elapse(LEASE_MS / 4);
    expect(await job!.extend(LEASE_MS)).toBe(true);
  }
  await pop('lately');
  for (let i = 0; i < 20; i++) await pop('again');
  expect(['holding', 'waiting', 'lately', 'again'].filter(hasLeft)).toEqual([]);
  expect(await job!.complete()).toBe(true);
  await pullers.close(800);
  expect(await waiting).toEqual([]);
});

it('a set of names that is popped once a minute keeps its place while nothing else is popped', async () => {
  await pop('rare');
  await clock.elapse(LEASE_MS);
  await pop('rare');
  expect(sessions.get('rare')).toHaveLength(1);
});

it.each<[string, () => void]>([
  ['', () => decoding.resolve('payload')],
  [', in vain,', () => decoding.reject(new Error('no key'))],
])('a job that a codec decodes%s as the application closes goes back, once, and nobody gets it', async (_, decode) => {
  const popped = pop('encoded', 60_000);
  await rest();
  const closed = pullers.close(800);
  decode();
  expect(await popped).toEqual([]);
  await closed;
  expect(sessions.get('encoded')!.flatMap(({ settled }) => settled)).toEqual(['release']);
});

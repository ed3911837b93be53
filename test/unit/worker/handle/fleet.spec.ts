import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import { resolveRunSettings } from '../../../../lib/core/options/run-settings.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import type { JobStore } from '../../../../lib/store/job-store.js';
import { Solitude } from '../../../../lib/worker/capacity/solitude.js';
import { Fleet } from '../../../../lib/worker/handle/fleet.js';
import { HandlerRegistry } from '../../../../lib/worker/run/job-handler.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { answerUntil, CARETAKERS, claimsOf, EVENTS, LOG, SessionByHand } from '../../../support/session-by-hand.js';

let clock: ManualClock;
let mails: SessionByHand;
let reports: SessionByHand;
let fleet: Fleet;
/** Ends the runs of 'mails' that have begun. */
let ends: (() => void)[];
let isIdle: boolean;

beforeEach(() => {
  clock = new ManualClock();
  mails = new SessionByHand();
  reports = new SessionByHand();
  ends = [];
  const registry = new HandlerRegistry();
  const handler = { name: 'work', place: 'here', settings: resolveRunSettings() };
  registry.add({ ...handler, queue: 'mails', run: () => new Promise<void>((resolve) => ends.push(resolve)) });
  registry.add({ ...handler, queue: 'reports', run: () => undefined });
  const queue = (name: string) => ({ sessions: { worker: () => (name === 'mails' ? mails : reports) } });
  fleet = new Fleet({ queue } as unknown as JobStore, registry, undefined as never, clock, EVENTS, LOG, {
    workerId: 'w',
    codecs: new Codecs(),
    trackCurrentJob: false,
    shutdownTimeoutMs: 0,
    settingsOf: (queue) => readQueueOptions(queue, {}),
    maxPayloadBytes: 1_000,
    timerPrefix: 'test',
    solitude: new Solitude(clock),
    caretakers: CARETAKERS,
  });
});

afterEach(async () => {
  const stopped = fleet.stop();
  await answerUntil(mails, stopped, clock);
  await answerUntil(reports, stopped, clock);
});

/** From here on `isIdle` tells whether the fleet has been idle. */
async function watch(): Promise<void> {
  isIdle = false;
  void fleet.idle().then(() => {
    isIdle = true;
  });
  await rest();
}

it('a fleet that has not been started is idle', async () => {
  await expect(fleet.idle()).resolves.toBeUndefined();
});

it('a fleet is idle once every worker has been told that nothing is due', async () => {
  await fleet.start();
  await watch();
  mails.answer();
  await rest();
  expect(isIdle).toBe(false);
  reports.answer();
  await rest();
  expect(isIdle).toBe(true);
  await expect(fleet.idle()).resolves.toBeUndefined();
});

it('a fleet is not idle while a handler runs, nor before its outcome has been told', async () => {
  await fleet.start();
  await watch();
  mails.answer({ claimed: claimsOf(1) });
  reports.answer({ claimed: claimsOf(1) });
  await rest();
  // The other worker has told what became of its job.
  reports.answer();
  await rest();
  expect([ends.length, isIdle]).toEqual([1, false]);
  ends[0]!();
  await rest();
  expect([mails.underWay.length, isIdle]).toEqual([1, false]);
  mails.answer();
  await rest();
  expect(isIdle).toBe(true);
});

it('what becomes due with time, or is hinted at, ends the rest, and its answer begins it again', async () => {
  await fleet.start();
  mails.answer({ sleepMs: 1_000 });
  reports.answer({ sleepMs: 60_000 });
  await watch();
  expect(isIdle).toBe(true);
  await clock.elapse(1_000);
  await watch();
  expect([mails.underWay.length, isIdle]).toEqual([1, false]);
  mails.answer();
  await rest();
  expect(isIdle).toBe(true);
  reports.hints!.look(0);
  await watch();
  expect([reports.underWay.length, isIdle]).toEqual([1, false]);
  reports.answer();
  await rest();
  expect(isIdle).toBe(true);
});

it('a fleet is not idle while a turn has been refused, and has to be said again', async () => {
  await fleet.start();
  reports.answer();
  mails.refuse(new Error('NOPERM'));
  await watch();
  expect(isIdle).toBe(false);
  await clock.elapse(1_000);
  mails.answer();
  await rest();
  expect(isIdle).toBe(true);
});

it('a fleet that is stopped is idle', async () => {
  await fleet.start();
  await watch();
  const stopped = fleet.stop();
  await answerUntil(mails, stopped, clock);
  await answerUntil(reports, stopped, clock);
  expect(isIdle).toBe(true);
});

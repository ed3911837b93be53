import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { DAY, nextMultiple, recurrenceOf } from '../../contract/recurring.js';
import { redisUrl } from '../../support/queue-app.js';
import { settlement, TestStore } from '../../support/store.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

let proxy: TcpProxy;
/** Through the proxy, and beside it. */
let test: TestStore;
let direct: TestStore;

beforeEach(async () => {
  proxy = await TcpProxy.start(redisUrl());
  test = new TestStore({}, proxy.url);
  direct = new TestStore({}, redisUrl(), test.prefix);
  // Else the source goes over the wire at first, by which the proxy does not know a script.
  for (const { source } of Object.values(SCRIPTS)) await direct.redis.script('LOAD', source);
});

afterEach(async () => {
  expect(await direct.audit()).toEqual([]);
  await test.close();
  await direct.close();
  await proxy.stop();
});

/** Loses the first reply of a script that has run. */
function loseReplyOf(script: ScriptName): Promise<void> {
  return proxy.cutOnce((request) => request.includes(SCRIPTS[script].sha));
}

/** Does something whose first reply is lost, and tells what was answered in the end. */
async function despiteALostReply<T>(script: ScriptName, call: () => Promise<T>): Promise<T> {
  const lost = loseReplyOf(script);
  const answer = await call();
  await lost;
  return answer;
}

const daily = recurrenceOf({ everyMs: DAY });
const atNine = recurrenceOf({ cron: '0 9 * * *' });
const waiting = async () => (await direct.view.counts()).scheduled + (await direct.view.counts()).due;

it('of an upsert leaves one job, and the first answer', async () => {
  expect(await despiteALostReply('upsert-recurrence', () => test.recurrences.upsert(daily))).toMatchObject({
    status: 'created',
  });
  expect(await waiting()).toBe(1);
  expect(await direct.view.stats()).toEqual({ scheduled: 1 });
});

it('of an upsert of wall times as well', async () => {
  const { status, nextAtMs } = await despiteALostReply('upsert-recurrence', () => test.recurrences.upsert(atNine));
  expect({ status, next: (await direct.recurrences.get('r'))?.nextAtMs }).toEqual({
    status: 'created',
    next: nextAtMs,
  });
  expect(await waiting()).toBe(1);
});

it('of a removal answers that it was removed', async () => {
  await direct.recurrences.upsert(daily);
  expect(await despiteALostReply('remove-recurrence', () => test.recurrences.remove('r'))).toBe('removed');
  expect(await direct.view.stats()).toEqual({ scheduled: 1, cancelled: 1 });
});

it('of a pause, and of what resumes it, leaves one job', async () => {
  await direct.recurrences.upsert(daily);
  expect(await despiteALostReply('pause-recurrence', () => test.recurrences.pause('r'))).toBe(true);
  expect(await waiting()).toBe(0);
  expect(await despiteALostReply('resume-recurrence', () => test.recurrences.resume('r'))).toBe(true);
  expect(await waiting()).toBe(1);
  expect(await direct.view.stats()).toEqual({ scheduled: 2, cancelled: 1 });
});

it('of one that is run now leaves one job more', async () => {
  await direct.recurrences.upsert(daily);
  const ran = await despiteALostReply('run-recurrence', () => test.recurrences.runNow('r'));
  expect(await direct.view.job(ran!.id)).toMatchObject({ state: 'due' });
  expect(await waiting()).toBe(2);
});

it('of a backfill adds each instant once, and counts them', async () => {
  const { nextAtMs } = await direct.recurrences.upsert(daily);
  const instants = [2, 1].map((days) => nextAtMs! - days * DAY);
  expect(await despiteALostReply('backfill-recurrence', () => test.recurrences.backfill('r', instants))).toBe(2);
  expect(await waiting()).toBe(3);
});

it('of a cancelled occurrence, and of the tending behind it, arms the next one once', async () => {
  const { nextAtMs } = await direct.recurrences.upsert(atNine);
  expect(await despiteALostReply('cancel', () => test.jobs.cancel(`r@${nextAtMs}`))).toBe(true);
  expect((await direct.recurrences.get('r'))?.nextAtMs).toBe(nextAtMs! + DAY);
  await despiteALostReply('tend', () => test.jobs.cancel(`r@${nextAtMs! + DAY}`));
  expect((await direct.recurrences.get('r'))?.nextAtMs).toBe(nextAtMs! + 2 * DAY);
  expect(await waiting()).toBe(1);
  expect(await direct.view.stats()).toEqual({ scheduled: 3, cancelled: 2 });
});

it('of a refill gives the instants once', async () => {
  const { nextAtMs } = await direct.recurrences.upsert(atNine);
  for (let day = 0; day < 2; day++) await direct.jobs.cancel(`r@${nextAtMs! + day * DAY}`);
  await despiteALostReply('refill', () => test.jobs.cancel(`r@${nextAtMs! + 2 * DAY}`));
  for (let day = 3; day < 12; day++) {
    expect((await direct.recurrences.get('r'))?.nextAtMs).toBe(nextAtMs! + day * DAY);
    await direct.jobs.cancel(`r@${nextAtMs! + day * DAY}`);
  }
});

it.each([
  ['a worker', (store: TestStore) => store.worker('w'), 'turn'],
  ['a pull', (store: TestStore) => store.puller('p', 'work'), 'turn'],
] as const)('of a turn of %s that arms leaves one job an instant', async (_, session, script) => {
  const { nextAtMs } = await direct.recurrences.upsert(daily);
  await direct.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  const worker = session(test);
  // Registered before, so that the first turn of the script is the one that claims.
  await worker.turn();
  const { claimed } = await despiteALostReply(script, () => worker.turn({ limit: 5 }));
  expect(claimed).toMatchObject([{ id: `r@${nextAtMs}`, envelope: { occurrence: { isMissed: false } } }]);
  expect(await direct.recurrences.get('r')).toMatchObject({ count: 1, nextAtMs: nextAtMs! + DAY });
  expect(await direct.view.stats()).toMatchObject({ scheduled: 2, started: 1 });
  await worker.settle(settlement.complete(claimed[0]!));
  expect(await waiting()).toBe(1);
});

it('of a turn of a relay that arms moves one job an instant', async () => {
  const { nextAtMs } = await direct.recurrences.upsert(daily);
  await direct.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  const key = `${test.prefix}-out`;
  const relay = test.sessions.relay('w', ['work'], { type: 'list', key });
  const turn = {
    settlements: [],
    renewals: [],
    handlers: [],
    isLast: false,
    standing: 'stays',
    suspects: '',
  } as const;
  await relay.turn({ ...turn, limit: 0 }, new AbortController().signal);
  await despiteALostReply('relay', () => relay.turn({ ...turn, limit: 5 }, new AbortController().signal));
  expect((await direct.redis.lrange(key, 0, -1)).map((each) => JSON.parse(each).id)).toEqual([`r@${nextAtMs}`]);
  await direct.redis.del(key);
  expect(await direct.recurrences.get('r')).toMatchObject({ count: 1, nextAtMs: nextAtMs! + DAY });
  expect(await waiting()).toBe(1);
});

it('a process whose own clock is an hour off arms the same instants', async () => {
  const { nowMs } = await direct.view.nextDue();
  const { now } = Date;
  for (const [i, shift] of [3_600_000, -3_600_000].entries()) {
    Date.now = () => now.call(Date) + shift;
    try {
      const shifted = new TestStore({}, redisUrl(), test.prefix);
      const { nextAtMs } = await shifted.recurrences.upsert(recurrenceOf({ cron: '*/10 * * * *' }, {}, `c${i}`));
      expect(nextAtMs).toBe(nextMultiple(nowMs, 600_000));
      await shifted.jobs.cancel(`c${i}@${nextAtMs}`);
      expect((await direct.recurrences.get(`c${i}`))?.nextAtMs).toBe(nextMultiple(nowMs, 600_000) + 600_000);
      await shifted.close();
    } finally {
      Date.now = now;
    }
  }
});

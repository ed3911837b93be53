import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DAY, HOUR, recurrenceOf } from '../../contract/recurring.js';
import { settlement, TestStore } from '../../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

/** As after an eviction of `gate`, and for a worker of a build that knows no recurrences. */
const loseGate = () => test.redis.del(key('gate'));

/** Has the next call of `tend` walk through all, as after some seconds. */
const letWalk = () => test.redis.hset(key('gate'), 'tendAt', '1');

/** Runs the armed occurrence while nobody judges it. */
async function runUnjudged(): Promise<number> {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  await loseGate();
  return nextAtMs!;
}

it('what has begun and ended with nobody to judge it is not armed again, but the one after it', async () => {
  const at = await runUnjudged();
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
  await letWalk();
  await test.recurrences.tend();
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: at + DAY, lastAtMs: at, count: 1 });
  expect(await test.view.job(`r@${at}`)).toBeUndefined();
});

it('what has begun with nobody to judge it counts as the previous one', async () => {
  const at = await runUnjudged();
  expect(await test.worker('w').claim()).toHaveLength(1);
  await letWalk();
  await test.recurrences.tend();
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: at + DAY, lastAtMs: at, count: 1 });
});

it.each([
  ['has ended', true],
  ['runs still', false],
])(
  'what has begun with nobody to judge it, and %s, is not armed again by a change of the job or of the times',
  async (_, ends) => {
    const at = await runUnjudged();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    if (ends) await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
    const once = { nextAtMs: at + DAY, lastAtMs: at, count: 1 };
    const changed = recurrenceOf({ everyMs: DAY }, { payload: '2' });
    expect(await test.recurrences.upsert(changed)).toEqual({ status: 'changed', nextAtMs: at + DAY });
    expect(await test.recurrences.get('r')).toMatchObject(once);
    const faster = recurrenceOf({ everyMs: DAY / 2 }, { payload: '2' });
    expect((await test.recurrences.upsert(faster)).nextAtMs).toBe(at + DAY / 2);
  },
);

it('what has begun with nobody to judge it is not armed again by other times alone', async () => {
  const at = await runUnjudged();
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
  expect((await test.recurrences.upsert(recurrenceOf({ everyMs: DAY / 2 }))).nextAtMs).toBe(at + DAY / 2);
  expect(await test.recurrences.get('r')).toMatchObject({ lastAtMs: at, count: 1 });
});

it('what has begun with nobody to judge it counts for the limit at once', async () => {
  await runUnjudged();
  expect(await test.worker('w').claim()).toHaveLength(1);
  const limited = recurrenceOf({ everyMs: DAY, limit: 1 });
  expect(await test.recurrences.upsert(limited)).toEqual({ status: 'changed', nextAtMs: null });
  expect(await test.recurrences.get('r')).toMatchObject({ state: 'ended', count: 1 });
});

it('a lost note of when to tend is made anew by whoever tends', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await loseGate();
  expect(await test.recurrences.tend()).toBeGreaterThan(0);
  await test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  expect(await test.worker('w').claim()).toHaveLength(1);
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: nextAtMs! + DAY, count: 1 });
});

it('a lost note of when to tend is made anew by an upsert that changes nothing', async () => {
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await loseGate();
  expect(await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }))).toMatchObject({ status: 'unchanged' });
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(1);
});

it('a lost note of when to tend is made anew by whoever declares one of them', async () => {
  const { declarations } = test.store.queue('default');
  const declare = () => declarations.declare([recurrenceOf({ everyMs: DAY })], { app: 'a' }, 600_000);
  expect((await declare()).statuses).toEqual(['wins']);
  await loseGate();
  expect((await declare()).statuses).toEqual(['wins']);
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(1);
});

it('a clock that went back puts off no walk', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await test.redis.hset(key('gate'), 'tendAt', String(Date.now() + HOUR));
  await test.redis.hdel(key('jobs'), `r@${nextAtMs}`);
  const { tendInMs } = await test.worker('w').turn({ limit: 1 });
  expect(tendInMs).toBeLessThanOrEqual(10_000);
  expect(await test.recurrences.tend()).toBeLessThanOrEqual(7_000);
  expect(await test.redis.hexists(key('jobs'), `r@${nextAtMs}`)).toBe(1);
});

it('instants that were added by older time-zone data are taken for older', async () => {
  await test.recurrences.upsert(recurrenceOf({ cron: '0 9 * * *', timeZone: 'Europe/Berlin' }));
  const state = (await test.redis.hget(key('timetable'), 'r'))!;
  const newer = state.replace(/ [^ |]*\|(\S+) .*/, ' 9999z|$1');
  await test.redis.hset(key('timetable'), 'r', newer);
  await test.recurrences.tend(['r']);
  const after = (await test.redis.hget(key('timetable'), 'r'))!;
  expect(after.split('|')[1]!.split(' ').length).toBeGreaterThanOrEqual(5);
  expect(after).toContain(` ${process.versions.tz}|`);
});

it('jitter ends before the next instant, also where that was not known when the job was to be armed', async () => {
  const { nextAtMs: at } = await test.recurrences.upsert(recurrenceOf({ cron: '0 * * * *', jitterMs: 30 * DAY }));
  const state = (await test.redis.hget(key('timetable'), 'r'))!;
  await test.redis.hset(key('timetable'), 'r', state.replace(/\|.*/, `|${at} ${at! + HOUR}`));
  await test.jobs.reschedule(`r@${at}`, { delayMs: 0 });
  const { claimed, toTend } = await test.worker('w').turn({ limit: 1 });
  expect({ claimed: claimed.length, toTend }).toEqual({ claimed: 1, toTend: ['r'] });
  await test.recurrences.tend(toTend);
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: at! + HOUR });
  expect((await test.view.job(`r@${at! + HOUR}`))?.dueAtMs).toBeLessThan(at! + 2 * HOUR);
});

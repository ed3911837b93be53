import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DAY, MINUTE, recurrenceOf } from '../../contract/recurring.js';
import { settlement, TestStore } from '../../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

/** Walks through all, as after some seconds. Answers which it has found damaged. */
async function tendAll(): Promise<string[]> {
  const found: string[] = [];
  await test.redis.hset(key('gate'), 'tendAt', '1');
  await test.recurrences.tend([], (damaged) => found.push(...damaged));
  return found;
}

const armedJobs = async () => (await test.view.list('scheduled', 0, 5_000)).map(({ id }) => id).sort();
const stateOf = (id = 'r') => test.redis.hget(key('timetable'), id);

/** The armed occurrence is due now, an hour and more before its instant. */
const hurry = (nextAtMs: number | null) => test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });

const rules = [
  ['a period', recurrenceOf({ everyMs: 2 * DAY })],
  ['wall times', recurrenceOf({ cron: '0 9 1 1 *' })],
  ['jitter', recurrenceOf({ cron: '0 9 1 1 *', jitterMs: MINUTE })],
] as const;

it.each(rules)(
  'upserted again, one by %s whose state is lost begins anew, each instant once',
  async (_, recurrence) => {
    const { nextAtMs } = await test.recurrences.upsert(recurrence);
    await hurry(nextAtMs);
    const worker = test.worker('w');
    await worker.settle({ ...settlement.complete((await worker.claim())[0]!), idWasChosen: true });
    const { nextAtMs: waits } = (await test.recurrences.get('r'))!;
    await test.redis.del(key('timetable'));
    expect(await tendAll()).toEqual([]);
    expect(await test.recurrences.get('r')).toBeUndefined();
    const { status, nextAtMs: next } = await test.recurrences.upsert(recurrence);
    expect(status).toBe('created');
    expect(next).toBeGreaterThan(waits!);
    expect(await armedJobs()).toEqual([`r@${waits}`, `r@${next}`]);
    expect((await test.recurrences.get('r'))!.count).toBe(0);
  },
);

it('upserted again, one whose state somebody has damaged begins anew', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: 2 * DAY }));
  await test.redis.hset(key('timetable'), 'r', 'rubbish');
  expect(await tendAll()).toEqual([]);
  expect(await stateOf()).toBe('rubbish');
  expect(await test.recurrences.upsert(recurrenceOf({ everyMs: 2 * DAY }))).toMatchObject({ status: 'created' });
  expect((await test.recurrences.get('r'))!.nextAtMs).toBeGreaterThan(nextAtMs!);
});

it.each(['timetable', 'recurrences'])(
  'a declared one is back with the next declaration where `%s` is lost',
  async (lost) => {
    const { declarations } = test.store.queue('default');
    const declare = () => declarations.declare([recurrenceOf({ everyMs: 2 * DAY })], { app: 'a' }, 600_000);
    await declare();
    await test.redis.del(key(lost));
    expect((await declare()).statuses).toEqual(['wins']);
    const { nextAtMs } = (await test.recurrences.get('r'))!;
    expect(await armedJobs()).toContain(`r@${nextAtMs}`);
  },
);

it('what is declared as switched off is so again with its state lost', async () => {
  const { declarations } = test.store.queue('default');
  const declare = () => declarations.declare([{ id: 'r', isOff: true }], { app: 'a' }, 600_000);
  await declare();
  await test.redis.del(key('timetable'));
  expect((await declare()).statuses).toEqual(['wins']);
  expect(await stateOf()).toMatch(/^o /);
  expect(await test.recurrences.list(0, 10)).toEqual([]);
});

it('without its record a recurrence ends: what waits still runs, and then nothing of it is left', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: 2 * DAY }));
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, 'other'));
  await test.redis.hdel(key('recurrences'), 'r');
  expect(await tendAll()).toEqual([]);
  await hurry(nextAtMs);
  expect((await test.worker('w').claim()).map(({ id }) => id)).toEqual([`r@${nextAtMs}`]);
  await tendAll();
  expect(await test.redis.hkeys(key('timetable'))).toEqual(['other']);
  await test.recurrences.remove('other');
  expect(await test.redis.exists(key('timetable'), key('recurrences'), key('gate'))).toBe(0);
});

it.each(rules)(
  'one by %s whose record somebody has damaged is told once, and goes on once it is upserted',
  async (_, rule) => {
    const limited = { ...rule, rule: { ...rule.rule, limit: 3 } };
    await hurry((await test.recurrences.upsert(limited)).nextAtMs);
    expect(await test.worker('w').claim()).toHaveLength(1);
    const { nextAtMs } = (await test.recurrences.get('r'))!;
    await test.redis.hset(key('recurrences'), 'r', 'rubbish');
    await hurry(nextAtMs);
    expect((await test.worker('w').claim()).map(({ id }) => id)).toEqual([`r@${nextAtMs}`]);
    expect(await tendAll()).toEqual(['r']);
    expect(await tendAll()).toEqual([]);
    expect(await test.redis.hget(key('recurrences'), 'r')).toBe('rubbish');
    expect(await test.recurrences.upsert(limited)).toMatchObject({ status: 'created' });
    expect((await test.recurrences.get('r'))!.count).toBeGreaterThanOrEqual(1);
    expect(await armedJobs()).toHaveLength(1);
    expect(await tendAll()).toEqual([]);
    expect(await test.audit()).toEqual([]);
  },
);

it('where all recurrences are lost nobody tends any more', async () => {
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await test.redis.del(key('timetable'), key('recurrences'));
  expect(await tendAll()).toEqual([]);
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(0);
  expect(await test.recurrences.tend()).toBeUndefined();
});

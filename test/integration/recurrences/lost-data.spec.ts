import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { LostRecurrences } from '../../../lib/store/job-store.js';
import { DAY, HOUR, MINUTE, recurrenceOf } from '../../contract/recurring.js';
import { settlement, TestStore } from '../../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

/** Walks through all, as after some seconds. Answers what it has found lost. */
async function tendAll(): Promise<LostRecurrences[]> {
  const found: LostRecurrences[] = [];
  await test.redis.hset(key('gate'), 'tendAt', '1');
  await test.recurrences.tend([], (lost) => found.push(lost));
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

it.each(rules)('with a lost state a recurrence, by %s, goes on with the job that was armed', async (_, recurrence) => {
  const { nextAtMs } = await test.recurrences.upsert(recurrence);
  const before = await test.recurrences.get('r');
  const job = await test.view.job(`r@${nextAtMs}`);
  await test.redis.hdel(key('timetable'), 'r');
  expect(await test.recurrences.get('r')).toBeUndefined();
  expect(await tendAll()).toEqual([{ states: ['r'], records: [] }]);
  expect(await test.recurrences.get('r')).toEqual(before);
  expect(await test.view.job(`r@${nextAtMs}`)).toEqual(job);
  await hurry(nextAtMs);
  expect(await test.worker('w').claim()).toHaveLength(1);
  expect(await test.recurrences.get('r')).toMatchObject({ lastAtMs: nextAtMs, count: 1 });
  expect(await armedJobs()).toHaveLength(1);
  expect(await tendAll()).toEqual([]);
  expect(await test.audit()).toEqual([]);
});

it.each(rules)('with its state and its armed job lost, by %s, the job is there again', async (_, recurrence) => {
  const { nextAtMs } = await test.recurrences.upsert(recurrence);
  await test.redis.del(key('timetable'), key('jobs'), key('lane:5::work'), key('heads:5'), key('levels'), key('stats'));
  await tendAll();
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs });
  expect(await armedJobs()).toEqual([`r@${nextAtMs}`]);
  expect(await test.audit()).toEqual([]);
});

it.each(rules)('with its state and the lane of its job lost, by %s, the job waits again', async (_, recurrence) => {
  const { nextAtMs } = await test.recurrences.upsert(recurrence);
  await test.redis.del(key('timetable'), key('lane:5::work'), key('heads:5'), key('levels'));
  await tendAll();
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs });
  expect(await armedJobs()).toEqual([`r@${nextAtMs}`]);
  expect(await test.audit()).toEqual([]);
});

it.each(rules)('an occurrence that runs while its state is lost, by %s, is not armed again', async (_, recurrence) => {
  const { nextAtMs } = await test.recurrences.upsert(recurrence);
  await hurry(nextAtMs);
  await test.redis.del(key('timetable'));
  const worker = test.worker('w');
  const [job] = await worker.claim();
  expect(job?.id).toBe(`r@${nextAtMs}`);
  await tendAll();
  const { nextAtMs: next } = (await test.recurrences.get('r'))!;
  expect(next).toBeGreaterThan(nextAtMs!);
  expect(await armedJobs()).toEqual([`r@${next}`]);
  await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
  expect(await test.audit()).toEqual([]);
});

it.each(rules)(
  'an occurrence that died before its state was lost, by %s, is not armed again',
  async (_, recurrence) => {
    const { nextAtMs } = await test.recurrences.upsert(recurrence);
    await hurry(nextAtMs);
    const worker = test.worker('w');
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    const { nextAtMs: next } = (await test.recurrences.get('r'))!;
    await test.redis.del(key('timetable'));
    await tendAll();
    expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: next });
    expect(await armedJobs()).toEqual([`r@${next}`]);
    expect(await test.view.job(`r@${nextAtMs}`)).toMatchObject({ state: 'dead' });
    expect(await test.audit()).toEqual([]);
  },
);

it.each(rules)('an occurrence that has ended before its state was lost, by %s, is not armed again', async (_, rule) => {
  const { nextAtMs } = await test.recurrences.upsert(rule);
  await hurry(nextAtMs);
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
  const { nextAtMs: next } = (await test.recurrences.get('r'))!;
  await test.redis.del(key('timetable'), key('jobs'), key('lane:5::work'), key('heads:5'), key('levels'));
  await tendAll();
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs: next });
  expect(await armedJobs()).toEqual([`r@${next}`]);
});

it.each(rules)(
  'whoever upserts a recurrence, by %s, whose state is lost takes on the job that waits',
  async (_, rule) => {
    const { nextAtMs } = await test.recurrences.upsert(rule);
    await test.redis.del(key('timetable'));
    const job = { ...rule.job, payload: '"new"', priority: 3 };
    expect(await test.recurrences.upsert({ ...rule, job })).toEqual({ status: 'created', nextAtMs });
    expect(await armedJobs()).toEqual([`r@${nextAtMs}`]);
    expect(await test.view.job(`r@${nextAtMs}`)).toMatchObject({ envelope: { payload: '"new"', priority: 3 } });
    expect(await test.audit()).toEqual([]);
    expect(await tendAll()).toEqual([]);
  },
);

it.each(rules)(
  'whoever upserts a recurrence, by %s, whose state is lost arms no instant that has ended',
  async (_, rule) => {
    const { nextAtMs } = await test.recurrences.upsert(rule);
    await hurry(nextAtMs);
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
    const { nextAtMs: next } = (await test.recurrences.get('r'))!;
    await test.redis.del(key('timetable'));
    expect(await test.recurrences.upsert(rule)).toEqual({ status: 'created', nextAtMs: next });
    expect(await armedJobs()).toEqual([`r@${next}`]);
    expect(await test.audit()).toEqual([]);
  },
);

it('an occurrence that is due while its state is lost runs once, and later ones follow', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: 200 }));
  await test.redis.del(key('timetable'));
  const worker = test.worker('w');
  const ids: string[] = [];
  for (let turns = 0; ids.length < 4; turns++) {
    const claimed = await worker.claim();
    ids.push(...claimed.map(({ id }) => id));
    await worker.settle(...claimed.map((job) => ({ ...settlement.complete(job), idWasChosen: true })));
    await tendAll();
    if (turns > 10_000) break;
  }
  expect(new Set(ids).size).toBe(4);
  expect(Number(ids[0]!.split('@')[1])).toBeGreaterThanOrEqual(nextAtMs!);
  expect(await armedJobs()).toHaveLength(1);
  expect(await test.audit()).toEqual([]);
});

it('instants that nobody has reckoned yet after a loss are reckoned by whoever tends next, and arm none that has begun', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ cron: '0 9 1 1 *' }));
  // As left behind by a process that has died before it could reckon.
  await test.redis.hset(key('timetable'), 'r', `a 0 ${Date.now() - HOUR} 0 0 0 0 ${Date.now()} |`);
  await hurry(nextAtMs);
  const worker = test.worker('w');
  const [job] = await worker.claim();
  await worker.settle({ ...settlement.complete(job!), idWasChosen: true });
  expect(await tendAll()).toEqual([]);
  const { nextAtMs: next } = (await test.recurrences.get('r'))!;
  expect(next).toBeGreaterThan(nextAtMs!);
  expect(await armedJobs()).toEqual([`r@${next}`]);
  expect(await stateOf()).toContain(` ${process.versions.tz}|`);
});

it('after a loss of all states, and of when to tend, all recurrences go on, however many they are', async () => {
  const ids = Array.from({ length: 1_200 }, (_, i) => `r${String(i).padStart(4, '0')}`);
  const rule = (i: number) => (i % 2 ? { everyMs: 2 * DAY } : { cron: '0 9 1 1 *' });
  await Promise.all(ids.map((id, i) => test.recurrences.upsert(recurrenceOf(rule(i), {}, id))));
  const jobs = await armedJobs();
  const lost = new Set(['jobs', 'lane:5::work', 'heads:5', 'levels'].map(key));
  await test.redis.del(key('timetable'), key('gate'), ...lost);
  const found: LostRecurrences[] = [];
  expect(await test.recurrences.tend([], (lost) => found.push(lost))).toBeGreaterThan(5_000);
  expect(found.map(({ states, records }) => [[...states].sort(), records])).toEqual([[ids, []]]);
  expect(await armedJobs()).toEqual(jobs);
  expect(await test.redis.hlen(key('timetable'))).toBe(1_200);
});

it('a state that somebody has damaged is made anew, and one whose record nobody can read ends', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: 2 * DAY }));
  await test.redis.hset(key('timetable'), 'r', 'rubbish');
  expect(await tendAll()).toEqual([{ states: ['r'], records: [] }]);
  expect(await test.recurrences.get('r')).toMatchObject({ nextAtMs });
  await test.redis.hset(key('recurrences'), 'odd', 'rubbish');
  expect(await tendAll()).toEqual([]);
  expect(await stateOf('odd')).toMatch(/^e /);
});

it('what is switched off stays so with its state lost', async () => {
  const { declarations } = test.store.queue('default');
  const declare = () => declarations.declare([{ id: 'r', isOff: true }], { app: 'a' }, 600_000);
  await declare();
  await test.redis.del(key('timetable'));
  expect(await tendAll()).toEqual([]);
  expect(await stateOf()).toMatch(/^o /);
  expect(await test.recurrences.list(0, 10)).toEqual([]);
  expect((await declare()).statuses).toEqual(['wins']);
});

it('without its record a recurrence ends: what waits still runs, and a minute later nothing of it is left', async () => {
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: 2 * DAY }));
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, 'other'));
  await test.redis.hdel(key('recurrences'), 'r');
  expect(await tendAll()).toEqual([{ states: [], records: ['r'] }]);
  expect(await tendAll()).toEqual([]);
  await hurry(nextAtMs);
  expect((await test.worker('w').claim()).map(({ id }) => id)).toEqual([`r@${nextAtMs}`]);
  const older = (await stateOf())!.replace(/\d+(?= unrecorded)/, (changed) => String(Number(changed) - MINUTE));
  await test.redis.hset(key('timetable'), 'r', older);
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
    expect(await tendAll()).toEqual([{ states: [], records: ['r'] }]);
    // Also after the time for which a state without a record is kept.
    const told = (await stateOf())!;
    await test.redis.hset(key('timetable'), 'r', told.replace(/\d+(?= unrecorded)/, '1'));
    expect(await tendAll()).toEqual([]);
    expect(await test.redis.hget(key('recurrences'), 'r')).toBe('rubbish');
    expect(await test.recurrences.upsert(limited)).toMatchObject({ status: 'created' });
    expect((await test.recurrences.get('r'))!.count).toBeGreaterThanOrEqual(1);
    expect(await armedJobs()).toHaveLength(1);
    expect(await tendAll()).toEqual([]);
    expect(await test.audit()).toEqual([]);
  },
);

it('a declared recurrence whose record is lost is back with the next declaration, paused as it was and with its count', async () => {
  const { declarations } = test.store.queue('default');
  const declare = () => declarations.declare([recurrenceOf({ everyMs: 2 * DAY })], { app: 'a' }, 600_000);
  await declare();
  await hurry((await test.recurrences.get('r'))!.nextAtMs);
  expect(await test.worker('w').claim()).toHaveLength(1);
  await test.recurrences.pause('r', 'broken');
  await test.redis.del(key('recurrences'));
  expect(await tendAll()).toEqual([{ states: [], records: ['r'] }]);
  expect((await declare()).statuses).toEqual(['wins']);
  expect(await test.recurrences.get('r')).toMatchObject({ state: 'paused', reason: 'broken', count: 1 });
  expect(await tendAll()).toEqual([]);
});

it('where all recurrences are lost nobody tends any more', async () => {
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  await test.redis.del(key('timetable'), key('recurrences'));
  expect(await tendAll()).toEqual([]);
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(0);
  expect(await test.recurrences.tend()).toBeUndefined();
});

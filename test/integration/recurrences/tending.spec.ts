import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { DAY, HOUR, nextMultiple, recurrenceOf } from '../../contract/recurring.js';
import { TestStore } from '../../support/store.js';

let test: TestStore;
const key = (name: string) => `${test.prefix}:{default}:${name}`;

beforeEach(() => {
  test = new TestStore();
});

afterEach(() => test.close());

/** Has the next call of `tend` walk through all, as after some seconds. */
async function tendAll(store = test): Promise<number | undefined> {
  await test.redis.hset(key('gate'), 'tendAt', '1');
  return store.recurrences.tend();
}

const rules = [
  ['a period', recurrenceOf({ everyMs: DAY })],
  ['wall times', recurrenceOf({ cron: '0 9 * * *' })],
] as const;

it.each(rules)('an armed job, by %s, that somebody has deleted is armed again', async (_, recurrence) => {
  const { nextAtMs } = await test.recurrences.upsert(recurrence);
  await test.redis.hdel(key('jobs'), `r@${nextAtMs}`);
  await test.redis.zrem(key('lane:5::work'), `r@${nextAtMs}`);
  expect(await test.view.job(`r@${nextAtMs}`)).toBeUndefined();
  await tendAll();
  expect(await test.view.job(`r@${nextAtMs}`)).toMatchObject({ state: 'scheduled', dueAtMs: nextAtMs });
});

it.each(['jobs', 'lane:5::work'])('armed jobs whose %s is lost are armed again, each once', async (lost) => {
  const made = await Promise.all(
    ['a', 'b', 'c'].map((id) => test.recurrences.upsert(recurrenceOf({ everyMs: HOUR }, {}, id))),
  );
  await test.redis.del(...(lost === 'jobs' ? [key(lost)] : [key(lost), key('heads:5'), key('levels')]));
  await tendAll();
  const ids = ['a', 'b', 'c'].map((id, i) => `${id}@${made[i]!.nextAtMs}`);
  for (const id of ids) expect(await test.view.job(id)).toMatchObject({ state: 'scheduled' });
  expect((await test.redis.zrange(key('lane:5::work'), '0', '-1')).sort()).toEqual(ids);
  expect(await test.redis.hlen(key('jobs'))).toBe(3);
  const problems = (await test.audit()).map((problem) => problem.slice(0, 16));
  expect(problems).toEqual(lost === 'jobs' ? ['6 were scheduled'] : []);
});

it('a job that is lost from its lane is armed again, also where armed jobs lie in many lanes', async () => {
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, { name: `n${i % 12}`, priority: i % 2 }, `r${i}`)),
    ),
  );
  const ids = made.map(({ nextAtMs }, i) => `r${i}@${nextAtMs}`);
  const state = () => test.redis.hgetall(key('timetable'));
  const before = await state();
  await tendAll();
  expect(await state()).toEqual(before);
  for (const i of [0, 13, 47]) await test.redis.zrem(key(`lane:${i % 2}::n${i % 12}`), ids[i]!);
  await tendAll();
  expect((await test.view.list('scheduled', 0, 100)).map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(await state()).toEqual(before);
});

it('two processes that tend at once arm once', async () => {
  const other = new TestStore({}, undefined, test.prefix);
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, i) => test.recurrences.upsert(recurrenceOf({ cron: '0 9 * * *' }, {}, `r${i}`))),
  );
  await test.redis.del(key('jobs'), key('lane:5::work'), key('heads:5'), key('levels'));
  const ids = made.map((_, i) => `r${i}`);
  await Promise.all([tendAll(), tendAll(other), test.recurrences.tend(ids), other.recurrences.tend(ids)]);
  const jobs = await test.redis.hkeys(key('jobs'));
  expect(jobs.sort()).toEqual(made.map(({ nextAtMs }, i) => `r${i}@${nextAtMs}`).sort());
  expect(await test.view.stats()).toEqual({ scheduled: 80 });
  await other.close();
});

it('a walk is begun by one process alone, and not before it is time', async () => {
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }));
  const dueIn = await tendAll();
  expect(dueIn).toBeGreaterThan(5_000);
  const { nextAtMs } = (await test.recurrences.get('r'))!;
  await test.redis.hdel(key('jobs'), `r@${nextAtMs}`);
  expect(await test.recurrences.tend()).toBeLessThanOrEqual(7_000);
  expect(await test.redis.hexists(key('jobs'), `r@${nextAtMs}`)).toBe(0);
  await tendAll();
  expect(await test.redis.hexists(key('jobs'), `r@${nextAtMs}`)).toBe(1);
});

it('a walk looks at all, however many they are', async () => {
  const ids = Array.from({ length: 1_200 }, (_, i) => `r${i}`);
  await Promise.all(ids.map((id) => test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, id))));
  await test.redis.del(key('jobs'), key('lane:5::work'), key('heads:5'), key('levels'));
  await tendAll();
  expect(await test.redis.hlen(key('jobs'))).toBe(1_200);
});

it('one that ended a day ago is forgotten, and with the last one all keys of recurrences', async () => {
  const endAtMs = nextMultiple(Date.now(), DAY);
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ everyMs: DAY, endAtMs }));
  await test.jobs.reschedule(`r@${nextAtMs}`, { delayMs: 0 });
  expect(await test.worker('w').claim()).toHaveLength(1);
  expect(await test.recurrences.get('r')).toMatchObject({ state: 'ended', nextAtMs: null, count: 1 });
  await tendAll();
  expect(await test.recurrences.list(0, 10)).toHaveLength(1);
  const state = (await test.redis.hget(key('timetable'), 'r'))!;
  const [, ended] = state.match(/ (\d+) [^ |]*\|/)!;
  await test.redis.hset(key('timetable'), 'r', state.replace(ended!, String(Number(ended) - DAY)));
  expect(await test.recurrences.list(0, 10)).toEqual([]);
  await tendAll();
  expect(await test.redis.exists(key('recurrences'), key('timetable'))).toBe(0);
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(0);
  expect(await test.recurrences.tend()).toBeUndefined();
});

it('once all recurrences are removed their keys are gone', async () => {
  for (const id of ['a', 'b']) await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, id));
  await test.recurrences.remove('a');
  expect(await test.redis.hexists(key('gate'), 'tendAt')).toBe(1);
  await test.recurrences.remove('b');
  expect(await test.redis.exists(key('recurrences'), key('timetable'), key('gate'), key('jobs'), key('levels'))).toBe(
    0,
  );
});

it('a recurrence of a small payload takes less than 1500 bytes, its armed job included', async () => {
  const ids = Array.from({ length: 2_000 }, (_, i) => `user-${i}`);
  await test.recurrences.upsert(recurrenceOf({ everyMs: DAY }, {}, 'first'));
  const usage = async () => {
    const keys = await test.redis.keys(`${key('')}*`);
    const sizes = await Promise.all(
      keys.filter((each) => !each.includes('receipt')).map((each) => test.redis.memory('USAGE', each, 'SAMPLES', 0)),
    );
    return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
  };
  const before = await usage();
  const payload = JSON.stringify({ text: 'x'.repeat(88) });
  const rules = [{ cron: '30 8 * * 1-5', timeZone: 'Europe/Berlin' }, { everyMs: DAY }];
  // Two at a time: on a busy machine thousands under way would outlast commandTimeoutMs.
  for (let i = 0; i < ids.length; i += 2)
    await Promise.all(rules.map((rule, j) => test.recurrences.upsert(recurrenceOf(rule, { payload }, ids[i + j]!))));
  expect(((await usage()) - before) / ids.length).toBeLessThan(1_500);
});

it('a walk has instants reckoned where they run short, and where newer time-zone data is there', async () => {
  await test.recurrences.upsert(recurrenceOf({ cron: '*/2 * * * * *' }, {}, 'short'));
  await test.recurrences.upsert(recurrenceOf({ cron: '0 9 * * *' }, {}, 'old'));
  const { short, old } = await test.redis.hgetall(key('timetable'));
  // Four of them, all within the next 10 s.
  const shorter = short!.replace(/\|(\S+ \S+ \S+ \S+).*/, '|$1');
  await test.redis.hset(key('timetable'), { short: shorter, old: old!.replace(/ [^ |]*\|/, ' 2001a|') });
  await tendAll();
  const after = await test.redis.hgetall(key('timetable'));
  expect(after.old).toBe(old);
  expect(after.short!.split(' ').length).toBeGreaterThan(shorter.split(' ').length + 3);
});

it('newer time-zone data moves what is armed and ahead', async () => {
  // Hours from now: what was decided last moves by an hour as well, and must not lie behind it.
  const cron = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf({ cron, timeZone: 'Europe/Berlin' }));
  const state = (await test.redis.hget(key('timetable'), 'r'))!;
  await test.redis.hdel(key('jobs'), `r@${nextAtMs}`);
  await test.redis.zrem(key('lane:5::work'), `r@${nextAtMs}`);
  // As if the data had told another offset: the armed one an hour later.
  const old = state.replace(/\d{13}/g, (at) => String(Number(at) + HOUR)).replace(/ [^ |]*\|/, ' 2001a|');
  await test.redis.hset(key('timetable'), 'r', old);
  await test.recurrences.tend(['r']);
  expect((await test.recurrences.get('r'))?.nextAtMs).toBe(nextAtMs);
  expect(await test.redis.hget(key('timetable'), 'r')).toContain(` ${process.versions.tz}|`);
});

it('newer time-zone data moves also the last instants of a rule', async () => {
  const now = new Date();
  // Both in the next two years: the list is whole.
  const endAtMs = Date.UTC(now.getUTCFullYear() + 2, 0, 1);
  const rule = { cron: '0 9 30 6 *', timeZone: 'Europe/Berlin', endAtMs };
  const { nextAtMs } = await test.recurrences.upsert(recurrenceOf(rule));
  const state = (await test.redis.hget(key('timetable'), 'r'))!;
  expect(state).toMatch(/ \.$/);
  await test.redis.hdel(key('jobs'), `r@${nextAtMs}`);
  await test.redis.zrem(key('lane:5::work'), `r@${nextAtMs}`);
  // As if the data had told another offset: all of them an hour later.
  const old = state.replace(/\d{13}/g, (at) => String(Number(at) + HOUR)).replace(/ [^ |]*\|/, ' 2001a|');
  await test.redis.hset(key('timetable'), 'r', old.replace(/^(a \d+) \d+/, `$1 ${Date.now()}`));
  await test.recurrences.tend(['r']);
  expect((await test.recurrences.get('r'))?.nextAtMs).toBe(nextAtMs);
  expect(await test.redis.hget(key('timetable'), 'r')).toContain(` ${process.versions.tz}|`);
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Declaration } from '../../../lib/store/job-store.js';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { DAY, recurrenceOf } from '../../contract/recurring.js';
import { redisUrl } from '../../support/queue-app.js';
import { QUEUE, TestStore } from '../../support/store.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const ORPHAN_AFTER_MS = 600_000;
/** Of an app, when it was heard last, and since when. */
const BEATS = 2;
const APP = { app: 'shop' };

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

const declarationsOf = (store: TestStore) => store.store.queue(QUEUE).declarations;
const declare = (declarations: readonly Declaration[], startedAtMs?: number, orphanAfterMs = ORPHAN_AFTER_MS) =>
  declarationsOf(test).declare(declarations, { ...APP, startedAtMs }, orphanAfterMs);
const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

/** Does something whose first reply of this script is lost, and tells what was answered in the end. */
async function despiteALostReply<T>(script: ScriptName, call: () => Promise<T>): Promise<T> {
  const lost = proxy.cutOnce((request) => request.includes(SCRIPTS[script].sha));
  const answer = await call();
  await lost;
  return answer;
}

/** As if all had been declared then, and processes heard since. */
async function declaredAt(ms: number): Promise<void> {
  const members = await direct.redis.zrange(key('declared'), '0', '-1');
  for (const member of members.filter((each) => !each.endsWith('\tbeat')))
    await direct.redis.zadd(key('declared'), ms, member);
}

const nightly = recurrenceOf({ cron: '0 3 * * *' });

it.each<ScriptName>(['declare', 'declare-recurrence'])(
  'a lost reply of %s leaves one job, and the first answer',
  async (script) => {
    const { statuses, startedAtMs } = await despiteALostReply(script, () => declare([nightly]));
    expect(statuses).toEqual(['wins']);
    expect(startedAtMs).toBeGreaterThan(0);
    expect(await direct.view.stats()).toEqual({ scheduled: 1 });
    expect(await direct.redis.zcard(key('declared'))).toBe(1 + BEATS);
  },
);

it('a lost reply loses no orphan that it told', async () => {
  const { startedAtMs } = await declare([nightly]);
  await declaredAt(startedAtMs - 10_000);
  const { orphans } = await despiteALostReply('declare', () => declare([], startedAtMs - 10_000, 5_000));
  expect(orphans).toEqual(['r']);
});

it('a lost reply of a removal answers that the orphan was removed', async () => {
  const { startedAtMs } = await declare([nightly]);
  await declaredAt(startedAtMs - 10_000);
  const remove = () => declarationsOf(test).removeOrphan('r', APP.app, 5_000);
  expect(await despiteALostReply('remove-orphan', remove)).toBe(true);
  expect(await direct.redis.keys(key('*'))).not.toContain(key('recurrences'));
  expect(await direct.redis.exists(key('timetable'))).toBe(0);
  expect(await direct.redis.zcard(key('declared'))).toBe(BEATS);
  expect(await direct.redis.hget(key('gate'), 'tendAt')).toBeNull();
});

it('what is declared again goes as ids and digests alone', async () => {
  const payload = JSON.stringify('x'.repeat(1_000));
  const many = Array.from({ length: 100 }, (_, i) => recurrenceOf({ everyMs: DAY }, { payload }, `report/${i}`));
  const { startedAtMs } = await declare(many);
  const before = proxy.bytesUp;
  expect(before).toBeGreaterThan(100 * 1_000);
  expect((await declare(many, startedAtMs)).statuses).toEqual(many.map(() => 'wins'));
  expect(proxy.bytesUp - before).toBeLessThan(100 * 60);
});

it('more recurrences than one call names are all declared', async () => {
  const many = Array.from({ length: 1_001 }, (_, i) => recurrenceOf({ everyMs: DAY }, {}, `report/${i}`));
  const { statuses, startedAtMs } = await declare(many);
  expect(statuses).toHaveLength(1_001);
  expect(new Set((await declare(many, startedAtMs)).statuses)).toEqual(new Set(['wins']));
  expect(await direct.redis.zcard(key('declared'))).toBe(1_001 + BEATS);
});

it('the same payload with its keys in another order is the same declaration', async () => {
  await declare([recurrenceOf({ everyMs: DAY }, { payload: '{"a":1,"b":{"c":2,"d":[3]}}' })]);
  const record = await direct.redis.hget(key('recurrences'), 'r');
  // Of the same start, so that it is no stronger than what is there.
  const since = Number(record!.split('\n')[1]!.split(' ')[2]);
  await declare([recurrenceOf({ everyMs: DAY }, { payload: '{"b":{"d":[3],"c":2},"a":1}' })], since);
  expect(await direct.redis.hget(key('recurrences'), 'r')).toBe(record);
});

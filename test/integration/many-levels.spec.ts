import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { type RedisServer, startOwnServer } from '../support/redis-server.js';
import { commandsOfScripts } from '../support/script-commands.js';
import { newJob, TestStore } from '../support/store.js';

const HOUR = 3_600_000;
const START = Date.now() - HOUR;
/** Two hours in spans that hold a due job, a scheduled job, and none. */
const BOUNDS = [0, START - 1, START + HOUR / 2, START + 1.5 * HOUR, START + 3 * HOUR, 4e12];

const runOnce = RedisConnection.prototype.run;
let server: RedisServer;
let test: TestStore;

beforeEach(async () => {
  server = await startOwnServer();
  test = new TestStore({}, server.url);
});

afterEach(async () => {
  RedisConnection.prototype.run = runOnce;
  await test.close();
  await server.stop();
});

/**
 * Priority `i + 1` gets `lanes[i]` names, each with `i + 1` due jobs; every third name has a job for in an hour as well. Jobs of every other
 * priority prefer a worker.
 */
async function fill(lanes: readonly number[]): Promise<void> {
  const jobs = lanes
    .flatMap((count, i) =>
      Array.from({ length: count }, (_, k) => {
        const job = { name: `name-${k}`, priority: i + 1, ...(i % 2 === 1 && { worker: 'w' }) };
        const due = Array.from({ length: i + 1 }, () => newJob({ ...job, due: { at: START + i } }));
        return k % 3 === 0 ? [...due, newJob({ ...job, due: { at: START + 2 * HOUR } })] : due;
      }),
    )
    .flat();
  await test.jobs.scheduleMany(jobs, () => {});
}

const dueOf = (lanes: number, i: number) => lanes * (i + 1);
const scheduledOf = (lanes: number) => Math.ceil(lanes / 3);
const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0);

async function expectCounts(lanes: readonly number[]): Promise<void> {
  const [due, scheduled] = [sum(lanes.map(dueOf)), sum(lanes.map(scheduledOf))];
  expect(await test.view.counts()).toMatchObject({ due, scheduled });
  expect(await test.view.countsByPriority()).toEqual(
    lanes.map((count, i) => ({ priority: i + 1, due: dueOf(count, i), scheduled: scheduledOf(count) })),
  );
  expect(await test.view.forecast([0, 4e12])).toEqual([due + scheduled]);
  expect(await test.view.forecast(BOUNDS)).toEqual([0, due, 0, scheduled, 0]);
}

describe('the counts of several calls add up', () => {
  it.each([
    ['between two priorities', [400, 800, 200, 200, 1]],
    ['inside a priority', [399, 402, 1, 650, 7, 300]],
    ['behind the last name', [200, 200]],
  ])('where a call ends %s', async (_, lanes) => {
    await fill(lanes);
    await expectCounts(lanes);
  });

  it('where the order of the priorities by due time turns round meanwhile', async () => {
    const lanes = [300, 300, 300, 300];
    await fill(lanes);
    let [calls, turns] = [0, 0];
    RedisConnection.prototype.run = async function (this: RedisConnection, ...call: Parameters<typeof runOnce>) {
      const reply = await runOnce.apply(this, call);
      if (['counts', 'priorities', 'forecast'].includes(call[0]) && ++calls === 1) {
        turns++;
        for (const [i] of lanes.entries()) {
          const id = await firstOf(i + 1);
          await test.jobs.reschedule(id, { at: START - HOUR / 2 - turns * 100 - i });
        }
      }
      return reply;
    };
    const asked: (() => Promise<unknown>)[] = [
      () => test.view.counts(),
      () => test.view.countsByPriority(),
      () => test.view.forecast([0, 4e12]),
    ];
    for (const [i, ask] of asked.entries()) {
      calls = 0;
      expect(await ask()).toEqual(
        [
          { due: 3_000, scheduled: 400, active: 0, completed: 0, dead: 0 },
          lanes.map((count, k) => ({ priority: k + 1, due: dueOf(count, k), scheduled: 100 })),
          [3_400],
        ][i],
      );
      expect(calls).toBeGreaterThan(2);
    }
  });
});

async function firstOf(priority: number): Promise<string> {
  const heads = `${test.prefix}:{default}:heads:${priority}${priority % 2 === 0 ? ':w' : ''}`;
  const [head] = await test.redis.zrange(heads, '0', '0');
  return head!.split('\t', 1)[0]!;
}

describe('where a thousand priorities have jobs, with and without preferred workers', () => {
  beforeEach(async () => {
    const jobs = Array.from({ length: 1_000 }, (_, i) =>
      [undefined, 'w', 'v'].map((worker) => newJob({ priority: i + 1, due: { at: START }, ...(worker && { worker }) })),
    ).flat();
    await test.jobs.scheduleMany(jobs, () => {});
  });

  it.each<[what: string, ask: () => Promise<unknown>, answer: unknown]>([
    ['the counts', () => test.view.counts(), expect.objectContaining({ due: 3_000, scheduled: 0 })],
    [
      'the counts by priority',
      async () => (await test.view.countsByPriority()).map(({ due }) => due),
      thousandTimes(3),
    ],
    ['a forecast of one span', () => test.view.forecast([0, 4e12]), [3_000]],
    ['a forecast of several', () => test.view.forecast(BOUNDS), [0, 3_000, 0, 0, 0]],
  ])('no script of %s sends more than 1 700 commands, and the priorities are read once', async (_, ask, answer) => {
    let answered: unknown;
    const scripts = await commandsOfScripts(test.redis, async () => {
      answered = await ask();
    });
    expect(answered).toEqual(answer);
    expect(Math.max(...scripts.map((commands) => commands.length))).toBeLessThan(1_700);
    expect(levelsRead(scripts)).toBe(4);
  });

  it('when the next job is due is told without a walk', async () => {
    const scripts = await commandsOfScripts(test.redis, () => test.view.nextDue());
    expect(scripts.flat().length).toBeGreaterThan(3);
    expect(levelsRead(scripts)).toBe(0);
    expect(await test.view.nextDue()).toMatchObject({ dueAtMs: START });
  });
});

/** How often the levels were read whole. */
function levelsRead(scripts: readonly string[][][]): number {
  return scripts.flat().filter(([name, key, , , by]) => name === 'zrange' && by === 'BYSCORE' && /:levels/.test(key!))
    .length;
}

function thousandTimes(count: number): number[] {
  return Array.from({ length: 1_000 }, () => count);
}

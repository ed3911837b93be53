import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../lib/index.js';
import type { NewJob } from '../../lib/store/job-store.js';
import { RedisConnection } from '../../lib/store/redis/link/connection.js';
import { newJob, QUEUE, TestStore } from '../support/store.js';

/** More than two steps. */
const JOBS = 1_201;
const LATER = { delayMs: 3_600_000 };
const ignore = () => {};

const runOnce = RedisConnection.prototype.run;
let test: TestStore;

beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000 });
});

afterEach(async () => {
  RedisConnection.prototype.run = runOnce;
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;

function scheduleMany(count: number, toJob: (i: number) => Partial<NewJob>) {
  return test.scheduleAll(Array.from({ length: count }, (_, i) => newJob(toJob(i))));
}

/** Of several lanes, priorities, kinds of id and sets of tags. */
const mixed = (i: number): Partial<NewJob> => ({
  name: `name-${i % 7}`,
  priority: 1 + (i % 5),
  // In another order than that of schedules.
  id: i % 3 === 0 ? `id-${(i * 7_919) % JOBS}` : undefined,
  due: { delayMs: 3_600_000 + ((i * 37) % 1_000) },
  tags: i % 2 === 0 ? ['all', 'even'] : ['odd', 'all'],
});

/** Runs something once, before the second step of a walk over a tag. */
function beforeSecondStep(act: () => Promise<unknown>): void {
  let steps = 0;
  RedisConnection.prototype.run = async function (this: RedisConnection, ...call: Parameters<typeof runOnce>) {
    if (call[0].endsWith('-tagged') && ++steps === 2) await act();
    return runOnce.apply(this, call);
  };
}

/** Every call arrives twice, as after a lost reply; the second answer is the one that counts. */
function arriveTwice(): void {
  RedisConnection.prototype.run = async function (this: RedisConnection, ...call: Parameters<typeof runOnce>) {
    await runOnce.apply(this, call);
    return runOnce.apply(this, call);
  };
}

async function dueTimes(ids: readonly string[]): Promise<(number | undefined)[]> {
  return Promise.all(ids.map(async (id) => (await test.view.job(id))?.dueAtMs));
}

describe('cancelTagged', () => {
  it('comes to its end, and spares what is scheduled after it began, however fast that comes', async () => {
    await scheduleMany(JOBS, mixed);
    let added = 0;
    RedisConnection.prototype.run = async function (this: RedisConnection, ...call: Parameters<typeof runOnce>) {
      const reply = await runOnce.apply(this, call);
      if (call[0] === 'cancel-tagged') {
        // Ids before and after all others.
        const ids = [`!${added}`, `~${added}`, undefined];
        await scheduleMany(600, (i) => ({ id: ids[i], tags: ['all'], due: LATER }));
        added += 600;
      }
      return reply;
    };
    expect(await test.management.cancelTagged('all', ignore)).toBe(JOBS);
    expect(await test.view.counts()).toMatchObject({ scheduled: added });
  });
});

describe('shiftTagged', () => {
  it.each([
    ['later', 7_200_000],
    ['earlier', -1_800_000],
  ])('moves each once when it moves them %s, though every call arrives twice', async (_, byMs) => {
    const answers = await scheduleMany(JOBS, mixed);
    arriveTwice();
    expect(await test.management.shiftTagged('odd', byMs)).toBe((JOBS - 1) / 2);
    const expected = answers.map(({ dueAtMs }, i) => (i % 2 === 0 ? dueAtMs : dueAtMs! + byMs));
    expect(await dueTimes(answers.map(({ id }) => id))).toEqual(expected);
  });

  it('moves no job twice that others are scheduled before, that is replaced, or that goes and comes back meanwhile', async () => {
    await test.close();
    test = new TestStore({ keepIdsMs: 0 });
    const answers = await scheduleMany(JOBS, (i) => ({ ...mixed(i), id: `id-${i}` }));
    const given: Record<string, number> = {};
    beforeSecondStep(async () => {
      const again = [3, 700, JOBS - 1].map((i) => ({ id: `id-${i}`, tags: ['all'], due: { delayMs: 9_000_000 } }));
      await test.jobs.cancel('id-1200');
      for (const job of [...again, { id: '!', tags: ['all'], due: LATER }]) {
        const { id, dueAtMs } = await test.replace(job);
        given[id] = dueAtMs!;
      }
    });
    await test.management.shiftTagged('all', 60_000);
    const ids = [...answers.map(({ id }) => id), '!'];
    const moved = (await dueTimes(ids)).map((due, i) => due! - (given[ids[i]!] ?? answers[i]!.dueAtMs!));
    // The first had been moved before it was replaced, the others came after the call began.
    expect(moved.flatMap((ms, i) => (ms === 60_000 ? [] : [`${ids[i]} ${ms}`]))).toEqual([
      'id-3 0',
      'id-1200 0',
      '! 0',
    ]);
  });
});

describe('a walk over a tag', () => {
  it('that fails on its way says how many had been done, and that it may have happened', async () => {
    const answers = await scheduleMany(JOBS, mixed);
    beforeSecondStep(async () => {
      throw new QueueUnavailableError('Redis is unavailable.', 'refused');
    });
    await expect(test.management.shiftTagged('all', 60_000)).rejects.toMatchObject({
      outcome: 'unknown',
      queue: QUEUE,
      message: expect.stringContaining('200 jobs'),
    });
    RedisConnection.prototype.run = runOnce;
    const moved = (await dueTimes(answers.map(({ id }) => id))).filter((due, i) => due !== answers[i]!.dueAtMs);
    expect(moved).toHaveLength(200);
  });

  it('that fails at once has not happened', async () => {
    RedisConnection.prototype.run = async () => {
      throw new QueueUnavailableError('Redis is unavailable.', 'refused');
    };
    await expect(test.management.cancelTagged('all', ignore)).rejects.toMatchObject({ outcome: 'refused' });
  });

  it('takes off the index what somebody has taken the envelope of, and goes on', async () => {
    const answers = await scheduleMany(JOBS, mixed);
    const lost = answers.slice(0, 600).map(({ id }) => id);
    await test.redis.hset(key('jobs'), lost[0]!, 'rubbish');
    await test.redis.hdel(key('jobs'), ...lost.slice(1));
    expect(await test.management.shiftTagged('all', 1)).toBe(JOBS - 600);
    expect(await test.redis.zcard(key('tag:all'))).toBe(JOBS - 600);
    // Nothing else is as it should be in this queue.
    await test.redis.del(...(await test.redis.keys(key('*'))));
  });

  it('reads only so many bytes of envelopes a step', async () => {
    await scheduleMany(20, () => ({ tags: ['large'], due: LATER, payload: JSON.stringify('x'.repeat(1_048_000)) }));
    const steps: number[] = [];
    expect(await test.management.cancelTagged('large', (ids) => steps.push(ids.length))).toBe(20);
    expect(steps).toEqual(Array.from({ length: 10 }, () => 2));
  });

  it('takes fewer jobs a step where each has many tags and a name of its own', async () => {
    const tags = (i: number) => ['all', ...Array.from({ length: 15 }, (_, k) => `${i}-${k}`)];
    await scheduleMany(200, (i) => ({ name: `own-${i}`, tags: tags(i), due: LATER }));
    const steps: number[] = [];
    expect(await test.management.cancelTagged('all', (ids) => steps.push(ids.length))).toBe(200);
    expect(Math.max(...steps)).toBeLessThanOrEqual(30);
  });
});

import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { defineScheduledJob, InvalidOptionsError, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { createScheduledJob, ScheduledQueueTestError } from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// The test kit claims, upgrades and validates as production does.

afterEach(stopTestedApps);

class Order {
  @IsInt() cents!: number;
}
const first = defineScheduledJob<{ total: number }>('order');
const third = defineScheduledJob('order', {
  payload: Order,
  version: 3,
  upgrade: { 2: ({ amount }) => ({ cents: amount * 100 }) },
});
const second = defineScheduledJob<{ amount: number }>('order', { version: 2 });

@Injectable()
class Orders {
  readonly seen: unknown[] = [];

  @OnScheduledJob(third)
  order({ cents }: Order, { version }: ScheduledJob<Order>): number {
    this.seen.push([cents, version]);
    return cents;
  }
}

it('runs the versions that the handler reads, and leaves others to wait', async () => {
  const { app, producer, tester, inspector } = await testedApp([Orders]);
  const old = await producer.schedule(first, { total: 1 }, { id: 'a' });
  await producer.schedule(second, { amount: 2 }, { id: 'b' });
  await producer.schedulePrepared(await producer.prepare(third, { cents: 3 }, { id: 'c' }));
  expect(tester.scheduled('order').map(({ version, payload }) => [version, payload])).toEqual([
    [1, { total: 1 }],
    [2, { amount: 2 }],
    [3, { cents: 3 }],
  ]);
  await tester.drain();
  expect(tester.runs('order').map(({ version, payload, result }) => [version, payload, result])).toEqual([
    [2, { cents: 200 }, 200],
    [3, { cents: 3 }, 3],
  ]);
  expect(app.get(Orders).seen).toEqual([
    [200, 2],
    [3, 3],
  ]);
  expect((await inspector.explain(old)).message).toContain(
    'it has version 1, and the workers that run at present handle versions 2, 3',
  );
  expect(await inspector.versions('order')).toEqual([{ version: 1, waiting: 1, active: 0, dead: 0, recurrences: 0 }]);
});

it('one run by hand has the version of its definition, and is refused in one that the handler does not read', async () => {
  const { tester } = await testedApp([Orders]);
  expect(await tester.run(second, { amount: 5 })).toEqual({ outcome: 'completed', result: 500 });
  expect(await tester.run(second, { amount: 0.001 })).toMatchObject({ outcome: 'dead', reason: 'invalid-payload' });
  for (const job of [first, 'order'])
    await expect(tester.run(job as typeof first, { total: 1 })).rejects.toThrow(
      "run: got job 'order' in version 1, expected one that its handler runs: versions 2 to 3. A job named by a string has version 1; name it by a definition.",
    );
  await expect(tester.run(first, { total: 1 })).rejects.toThrow(ScheduledQueueTestError);
});

it('a job that is made for a unit test has the version of its definition, unless it is said otherwise', () => {
  expect(createScheduledJob(third, { cents: 1 }).version).toBe(3);
  expect(createScheduledJob('order', {}).version).toBe(1);
  expect(createScheduledJob(third, { cents: 1 }, { version: 2 }).version).toBe(2);
  expect(() => createScheduledJob(third, { cents: 1 }, { version: 0 })).toThrow(InvalidOptionsError);
});

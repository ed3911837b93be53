import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob } from '../../../lib/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// `maxWaitMs` and `throttleMs` in virtual time, as an application sees them.

afterEach(stopTestedApps);

const save = defineScheduledJob<number>('save', { onDuplicate: 'replace', maxWaitMs: 1_000 });
const index = defineScheduledJob<number>('index', { onDuplicate: 'replace', throttleMs: 1_000 });

@Injectable()
class Handlers {
  readonly ran: number[] = [];
  readonly dueAt: number[] = [];

  @OnScheduledJob(save)
  @OnScheduledJob(index)
  run(change: number, { dueAt }: { dueAt: Date }) {
    this.ran.push(change);
    this.dueAt.push(dueAt.getTime());
  }
}

it('a debounce every 100 ms for ten seconds runs ten times, and the last change', async () => {
  const { app, tester, producer } = await testedApp([Handlers]);
  const handlers = app.get(Handlers);
  for (let change = 0; change < 100; change++) {
    await producer.schedule(save, change, { id: 'draft', delay: 300 });
    await tester.advance(100);
  }
  await tester.advance(1_000);
  expect(handlers.ran).toEqual([9, 19, 29, 39, 49, 59, 69, 79, 89, 99]);
});

it('under a throttle a hundred changes a second run once a second, and the last change', async () => {
  const { app, tester, producer } = await testedApp([Handlers]);
  const handlers = app.get(Handlers);
  for (let change = 0; change < 500; change++) {
    await producer.schedule(index, change, { id: 'shop' });
    await tester.advance(10);
  }
  await tester.advance(1_000);
  const [first] = handlers.dueAt;
  expect(handlers.dueAt.map((at) => at - first!)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
  expect(handlers.ran.at(-1)).toBe(499);
});

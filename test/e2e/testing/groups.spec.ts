import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob, ScheduledQueueInspector } from '../../../lib/index.js';
import { createScheduledJob, ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Groups under the test kit: what it tells about jobs of a group, and that turns, limits and pauses hold in virtual time.

const mail = defineScheduledJob<{ tenant?: string }>('mail', { group: ({ tenant }) => tenant });

@Injectable()
class Handlers {
  readonly groups: (string | undefined)[] = [];
  isBusy = false;

  constructor(
    private readonly tester: ScheduledQueueTester,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  @OnScheduledJob(mail)
  async mail(_payload: unknown, job: ScheduledJob) {
    this.groups.push(job.group);
    if (this.isBusy) await this.tester.sleep('1m');
  }

  /** A service that says: not before a minute. */
  @OnScheduledJob('slowed')
  async slowed(_payload: unknown, job: ScheduledJob) {
    await this.inspector.pauseGroup(job.group!, { forMs: '1m' });
  }
}

afterEach(stopTestedApps);

it('what waits, what runs alone and what a test makes by itself has its group', async () => {
  const { app, tester, producer } = await testedApp([Handlers]);
  await producer.schedule(mail, { tenant: 'a' }, { delay: '1h' });
  await producer.schedule(mail, {}, { delay: '2h' });
  expect(tester.scheduled(mail).map((job) => job.group)).toEqual(['a', undefined]);
  expect(tester.scheduled(mail)[1]).not.toHaveProperty('group');
  await tester.run(mail, { tenant: 'b' });
  await tester.advance('1h');
  expect(app.get(Handlers).groups).toEqual(['b', 'a']);
  expect(createScheduledJob(mail, { tenant: 'a' }).group).toBe('a');
  expect(createScheduledJob(mail, { tenant: 'a' }, { group: 'b' }).group).toBe('b');
  expect(createScheduledJob('other', null).group).toBeUndefined();
  expect(() => createScheduledJob(mail, {}, { group: '' })).toThrow('createScheduledJob: group: got "", expected');
});

it('a job of a group in order is told as completed, however long the queue has had groups', async () => {
  const { tester, producer } = await testedApp([Handlers], { queues: { default: { groups: { order: 'fifo' } } } });
  const { id } = await producer.schedule(mail, { tenant: 'a' }, { delay: '5m' });
  for (let minute = 0; minute < 5; minute++) await producer.schedule(mail, { tenant: 'a' }, { delay: minute * 60_000 });
  const completed = tester.waitFor(id, 'completed');
  await tester.advance('5m');
  await completed;
});

it('groups take turns, and one of twice the weight has twice as many', async () => {
  const { app, tester, producer, inspector } = await testedApp([Handlers]);
  await inspector.setGroup('a', { weight: 2 });
  const tenants = [...Array(6).fill('a'), ...Array(3).fill('b')];
  await producer.scheduleMany(tenants.map((tenant) => ({ job: mail, payload: { tenant } })));
  await tester.drain();
  const { groups } = app.get(Handlers);
  expect(groups).toHaveLength(9);
  for (const end of [3, 6]) expect(groups.slice(0, end).filter((group) => group === 'b')).toHaveLength(end / 3);
});

it("a queue's concurrency for groups holds for each, and the inspector shows what holds them", async () => {
  const { app, tester, producer, inspector } = await testedApp([Handlers], {
    queues: { default: { groups: { concurrency: 1 } } },
  });
  app.get(Handlers).isBusy = true;
  const tenants = ['a', 'a', 'b'];
  await producer.scheduleMany(tenants.map((tenant) => ({ job: mail, payload: { tenant } })));
  await tester.drain();
  expect(app.get(Handlers).groups).toEqual(['a', 'b']);
  expect(await inspector.groups()).toMatchObject([
    { group: 'a', waiting: 1, due: 1, active: 1, weight: 1, isPaused: false, pausedUntil: null, heldBy: 'concurrency' },
    { group: 'b', waiting: 0, due: 0, active: 1, heldBy: 'concurrency' },
  ]);
  expect(await inspector.load()).toMatchObject({ due: 0, latenessMs: 0, running: 2 });
  const [waiting] = tester.scheduled(mail);
  expect(await inspector.explain(waiting!)).toMatchObject({ code: 'group-concurrency' });
  await tester.advance('1m');
  expect(app.get(Handlers).groups).toEqual(['a', 'b', 'a']);
});

it('a handler pauses the group of its job for a minute, and the others go on', async () => {
  const { app, tester, producer, inspector } = await testedApp([Handlers]);
  await producer.schedule('slowed', null, { group: 'a' });
  await tester.drain();
  await producer.scheduleMany(['a', 'b'].map((tenant) => ({ job: mail, payload: { tenant } })));
  await tester.advance(59_999);
  expect(app.get(Handlers).groups).toEqual(['b']);
  expect(await inspector.group('a')).toEqual({
    group: 'a',
    waiting: 1,
    due: 1,
    active: 0,
    weight: 1,
    isPaused: true,
    pausedUntil: new Date(START + 60_000),
    heldBy: 'paused',
  });
  await tester.advance(1);
  expect(app.get(Handlers).groups).toEqual(['b', 'a']);
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob } from '../../../lib/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// Which jobs a test means by a definition that names a queue, by one that names none, and by a name.

const inMails = defineScheduledJob<{ to: string }>('send', { queue: 'mails' });
const inTexts = defineScheduledJob<{ to: string }>('send', { queue: 'texts' });
const anywhere = defineScheduledJob<{ to: string }>('send');

afterEach(stopTestedApps);

@Injectable()
class Handlers {
  @OnScheduledJob(inMails)
  mail() {}

  @OnScheduledJob(inTexts)
  text() {}
}

async function withJobInMails() {
  const started = await testedApp([Handlers]);
  await started.producer.schedule(inMails, { to: 'ada' }, { delay: '1h', id: 'm' });
  return started;
}

describe('a definition that names a queue means the jobs of that queue alone', () => {
  it('in scheduled', async () => {
    const { tester } = await withJobInMails();
    expect(tester.scheduled(inMails).map(({ id }) => id)).toEqual(['m']);
    expect(tester.scheduled(inTexts)).toEqual([]);
  });

  it('in expectScheduled and expectNotScheduled', async () => {
    const { tester } = await withJobInMails();
    expect(tester.expectScheduled(inMails).id).toBe('m');
    expect(() => tester.expectScheduled(inTexts)).toThrow(
      "Expected job 'send' of queue 'texts' to be scheduled. Scheduled instead:",
    );
    tester.expectNotScheduled(inTexts);
    expect(() => tester.expectNotScheduled(inMails)).toThrow(
      "Expected no job 'send' of queue 'mails' to be scheduled.",
    );
  });

  it('in runs', async () => {
    const { tester } = await withJobInMails();
    await tester.advance('1h');
    expect(tester.runs(inMails)).toMatchObject([{ id: 'm', queue: 'mails' }]);
    expect(tester.runs(inTexts)).toEqual([]);
  });

  it.each(['failNext', 'crashNext', 'loseLeaseNext'] as const)('in %s', async (fault) => {
    const { tester, producer } = await withJobInMails();
    tester[fault](inTexts, new Error('no'));
    await tester.advance('1h');
    expect(tester.runs()).toMatchObject([{ queue: 'mails', outcome: 'completed' }]);
    await producer.schedule(inTexts, { to: 'ada' });
    await tester.drain();
    expect(tester.runs(inTexts)[0]!.outcome).not.toBe('completed');
  });

  it('as a copy of one that was given a queue does', async () => {
    const { tester } = await withJobInMails();
    expect(tester.scheduled({ ...anywhere, queue: 'mails' })).toHaveLength(1);
    expect(tester.scheduled({ ...anywhere, queue: 'texts' })).toHaveLength(0);
  });
});

describe.each([
  ['a definition that names no queue', anywhere],
  ['a name', 'send'],
] as const)('%s means the jobs of all queues', (_, job) => {
  it('wherever it is given', async () => {
    const { tester } = await withJobInMails();
    expect(tester.scheduled(job)).toHaveLength(1);
    tester.expectScheduled(job);
    expect(() => tester.expectNotScheduled(job)).toThrow("Expected no job 'send' to be scheduled.");
    tester.failNext(job, new Error('no'));
    await tester.advance('1h');
    expect(tester.runs(job)).toMatchObject([{ outcome: 'failed' }]);
  });
});

it('faults strike in the order in which they were ordered, whether by a definition or by a name', async () => {
  const { tester, producer } = await testedApp([Handlers]);
  tester.failNext(inTexts, new Error('of texts'));
  tester.failNext('send', new Error('first'));
  tester.failNext(inMails, new Error('second'));
  for (let n = 0; n < 3; n++) await producer.schedule(inMails, { to: 'ada' }, { maxAttempts: 1 });
  await tester.drain();
  expect(tester.runs().map(({ error }) => (error as Error | undefined)?.message)).toEqual([
    'first',
    'second',
    undefined,
  ]);
});

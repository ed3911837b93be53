import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

afterEach(stopTestedApps);

@Injectable()
class Handlers {
  @OnScheduledJob('work')
  work() {}

  @OnScheduledJob('fails-once', { maxAttempts: 3, backoff: { type: 'fixed', delayMs: '10m' } })
  failsOnce(_payload: unknown, { attempt }: ScheduledJob) {
    if (attempt === 1) throw new Error('no');
  }
}

type Tested = Awaited<ReturnType<typeof testedApp>>;

const startsOf = ({ tester }: Tested) =>
  tester.runs().map(({ id, startedAt }) => [id, (startedAt.getTime() - START) / 60_000]);

it("under 'fifo' a job that failed comes before all others of its group, when its backoff is over", async () => {
  const tested = await testedApp([Handlers], { queues: { default: { groups: { order: 'fifo' } } } });
  await tested.producer.schedule('fails-once', null, { id: 'first', group: 'a' });
  await tested.producer.schedule('work', null, { id: 'second', group: 'a', delay: 1 });
  await tested.producer.schedule('work', null, { id: 'other', group: 'b', delay: 2 });
  await tested.tester.advance('1h');
  expect(startsOf(tested).map(([id, minutes]) => [id, Math.floor(minutes as number)])).toEqual([
    ['first', 0],
    ['other', 0],
    ['first', 10],
    ['second', 10],
  ]);
});

it('groups whose rate is used up or that are paused go on as time passes', async () => {
  const rateLimit = { max: 1, perMs: '10m' } as const;
  const tested = await testedApp([Handlers], { queues: { default: { groups: { rateLimit } } } });
  await tested.inspector.pauseGroup('b', { forMs: '30m' });
  for (const [id, group] of [
    ['1', 'a'],
    ['2', 'a'],
    ['3', 'b'],
    ['4', 'b'],
  ] as const)
    await tested.producer.schedule('work', null, { id, group });
  await tested.tester.advance('1h');
  // A window is 50 ms longer than said.
  expect(startsOf(tested).map(([id, minutes]) => [id, Math.floor(minutes as number)])).toEqual([
    ['1', 0],
    ['2', 10],
    ['3', 30],
    ['4', 40],
  ]);
});

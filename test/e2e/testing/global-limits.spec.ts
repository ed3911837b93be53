import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

afterEach(stopTestedApps);

@Injectable()
class Handlers {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('slow')
  slow(_payload: unknown, _job: ScheduledJob) {
    return this.tester.sleep('10m');
  }
}

it('globalConcurrency holds for handlers that sleep: the next job starts when one has ended', async () => {
  const { tester, producer } = await testedApp([Handlers], { queues: { default: { globalConcurrency: 2 } } });
  for (const id of ['a', 'b', 'c', 'd', 'e']) await producer.schedule('slow', null, { id });
  await tester.advance('1h');
  expect(tester.runs().map(({ id, startedAt }) => [id, (startedAt.getTime() - START) / 60_000])).toEqual([
    ['a', 0],
    ['b', 0],
    ['c', 10],
    ['d', 10],
    ['e', 20],
  ]);
});

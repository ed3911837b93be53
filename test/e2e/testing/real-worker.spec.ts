import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// The workers of an application under test are those of production, and are seen as such.

afterEach(stopTestedApps);

@Injectable()
class Deaf {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('deaf', { timeoutMs: 60_000, maxAttempts: 1 })
  async ignoresItsSignal() {
    await this.tester.sleep('1h');
  }

  @OnScheduledJob('next')
  next() {}
}

it('a handler that goes on after its timeout is stuck, and explains why another job waits', async () => {
  const { tester, producer, inspector } = await testedApp([Deaf], { queues: { default: { concurrency: 1 } } });
  await producer.schedule('deaf', null, { id: 'deaf' });
  await tester.advance('1m');
  expect(tester.runs('deaf')).toMatchObject([{ outcome: 'dead', reason: 'attempts-exhausted' }]);

  const next = await producer.schedule('next', null, { delay: '1m' });
  await tester.advance('2m');
  expect(await inspector.workers()).toMatchObject([{ stuck: 1, running: 1 }]);
  expect(await inspector.explain(next)).toMatchObject({ message: expect.stringContaining('(deaf)') });

  await tester.advance('1h');
  expect(tester.runs('next')).toMatchObject([{ outcome: 'completed' }]);
  expect(await inspector.workers()).toMatchObject([{ stuck: 0, running: 0 }]);
});

import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// tester.waitFor resolves or rejects as soon as that is known; it never hangs.

afterEach(stopTestedApps);

@Injectable()
class Handlers {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('quick')
  quick() {}

  @OnScheduledJob('slow')
  slow() {
    return this.tester.sleep('10m');
  }
}

it('a job that only passes through active is seen there', async () => {
  const { tester, producer } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null);
  const active = tester.waitFor(job, 'active');
  await tester.drain();
  await active;
});

it('a job that becomes due by time alone', async () => {
  const { tester, producer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null, { delay: '1h' });
  await inspector.pause();
  const due = tester.waitFor(job, 'due');
  await tester.advance('2h');
  await due;
});

it.each(['cancel', 'remove', 'clear', 'cancelTagged'] as const)('a waiting job is gone by %s', async (how) => {
  const { tester, producer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null, { delay: '1h', tags: ['t'] });
  const waiting = tester.waitFor(job, 'completed');
  waiting.catch(() => {});
  if (how === 'cancel') await producer.cancel(job);
  if (how === 'remove') await inspector.remove(job);
  if (how === 'clear') await inspector.clear();
  if (how === 'cancelTagged') await inspector.cancelTagged('t');
  await tester.drain();
  await expect(waiting).rejects.toThrow("will not be 'completed' any more");
});

it('a running job is cancelled', async () => {
  const { tester, producer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('slow', null);
  await tester.drain();
  await tester.waitFor(job, 'active');
  const cancelled = tester.waitFor(job, 'cancelled');
  await inspector.cancelRunning(job);
  await tester.advance('1h');
  await cancelled;
});

it('a dead job is remembered as dead, though it is purged, until it is replayed', async () => {
  const { tester, producer, inspector } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null, { maxAttempts: 1 });
  tester.failNext('quick', new Error('no'));
  await tester.drain();
  await tester.waitFor(job, 'dead');
  await inspector.replayDead(job);
  await tester.drain();
  await tester.waitFor(job, 'completed');

  const other = await producer.schedule('quick', null, { maxAttempts: 1 });
  tester.failNext('quick', new Error('no'));
  await tester.drain();
  await inspector.purgeDead();
  await tester.waitFor(other, 'dead');
});

it('a job that does not end while there is time', async () => {
  const { tester, producer, app } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null, { delay: '1h' });
  const waiting = tester.waitFor(job, 'completed');
  waiting.catch(() => {});
  await tester.advance('1m');
  await app.close();
  await expect(waiting).rejects.toThrow('waitFor: the application was closed.');
});

it('a state that is none is refused', async () => {
  const { tester, producer } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null);
  await expect(tester.waitFor(job, 'complete' as never)).rejects.toThrow(
    'waitFor: state: got "complete", did you mean \'completed\'?',
  );
  await expect(tester.waitFor(7 as never, 'dead')).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
});

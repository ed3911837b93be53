import { setTimeout as timeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// tester.waitFor resolves or rejects as soon as that is known; it never hangs.

afterEach(stopTestedApps);
afterEach(() => void jest.useRealTimers());

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
  await expect(waiting).rejects.toThrow("which has ended as 'cancelled', will not be 'completed' any more");
  await tester.waitFor(job, 'cancelled');
});

it('an id of another queue', async () => {
  const { tester, producer } = await testedApp([Handlers]);
  const job = await producer.schedule('quick', null, { id: 'j', queue: 'other' });
  await expect(tester.waitFor('j', 'completed')).rejects.toThrow(
    "waitFor: no job 'j' is known in queue 'default', so none becomes 'completed'. Was it scheduled, under this id? The id is known in queue 'other': give { id: 'j', queue: 'other' }, or the job itself.",
  );
  await producer.cancel(job);
  await expect(tester.waitFor('j', 'completed')).rejects.toThrow("The id is known in queue 'other'");
  await tester.waitFor(job, 'cancelled');
});

describe('nobody moves the application', () => {
  const jobs: [name: string, options: object, why: string][] = [
    ['quick', {}, 'It is due, and nothing has run since. Call advance or drain:'],
    ['quick', { delay: 3_600_000 }, 'is due at 2027-01-01T10:00:00.000Z. Call advance or drain:'],
    [
      'quikc',
      {},
      "It is due, but no handler of this application has job 'quikc' of queue 'default'. Did you mean 'quick'?",
    ],
    ['quick', { queue: 'other' }, "has job 'quick' of queue 'other'. A handler in queue 'default' has that name: "],
  ];
  /** What the waiting for each of them says, in an application of its own. */
  let said: { queue: string; message: string; afterMs: number }[];

  beforeAll(async () => {
    jest.useFakeTimers({ doNotFake: ['performance'] });
    said = await Promise.all(
      jobs.map(async ([name, options]) => {
        const { tester, producer } = await testedApp([Handlers]);
        const job = await producer.schedule(name, null, { id: 'j', ...options });
        const from = performance.now();
        const error = await tester.waitFor(job, 'completed').catch((thrown: Error) => thrown);
        return { queue: job.queue, message: String((error as Error)?.message), afterMs: performance.now() - from };
      }),
    );
  });

  it.each(jobs.map(([name, options, why], i) => [name, options, why, i] as const))(
    '%s, %j: it rejects after 4 s of real time',
    (_name, _options, why, i) => {
      const { queue, message, afterMs } = said[i]!;
      expect(message).toContain(
        `waitFor: job 'j' of queue '${queue}' does not become 'completed', as no call of the tester was under way for 4 s of real time.`,
      );
      expect(message).toContain(why);
      expect(afterMs).toBeGreaterThanOrEqual(3_900);
    },
  );

  it('a call of the tester, or an event, lets it wait on', async () => {
    const { tester, producer, consumer } = await testedApp([Handlers]);
    const job = await producer.schedule('quick', null, { delay: '1h' });
    const popped = await producer.schedule('popped', null, { queue: 'popped' });
    const waiting = Promise.all([tester.waitFor(job, 'completed'), tester.waitFor(popped, 'completed')]);
    await timeout(2_500);
    // A call that tells no event.
    await tester.advance('1m');
    await timeout(2_500);
    const [held] = await consumer.pop({ queue: 'popped', count: 1 });
    await timeout(2_500);
    await producer.schedule('quick', null);
    await timeout(2_500);
    await held!.complete();
    await tester.advance('2h');
    await waiting;
  });
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
    'waitFor: state: got "complete", expected one of scheduled, due, active, completed, dead, cancelled, discarded. Did you mean \'completed\'?',
  );
  await expect(tester.waitFor(7 as never, 'dead')).rejects.toMatchObject({ code: 'INVALID_SCHEDULE' });
});

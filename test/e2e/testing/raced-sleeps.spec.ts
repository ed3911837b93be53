import { setTimeout as realTime } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// A handler that races a sleep: the sleep that has lost neither ends the kit's waiting for the handler nor keeps its run open.

const at = (ms: number) => new Date(START + ms);
const MINUTE = 60_000;

afterEach(stopTestedApps);

async function running(handle: (tester: ScheduledQueueTester, job: ScheduledJob) => unknown) {
  @Injectable()
  class Races {
    constructor(readonly tester: ScheduledQueueTester) {}

    @OnScheduledJob('race', { timeoutMs: '5m' })
    race(_payload: unknown, job: ScheduledJob) {
      return handle(this.tester, job);
    }
  }
  const started = await testedApp([Races]);
  await started.producer.schedule('race', null, { id: 'r', maxAttempts: 1 });
  return started;
}

const completedAt = (ms: number) => [{ outcome: 'completed', endedAt: at(ms) }];

describe('a sleep that is left behind', () => {
  it('does not end the waiting for a handler that has many promises left', async () => {
    const { tester } = await running(async (tester) => {
      const patience = async () => await tester.sleep('1m');
      await Promise.race([Promise.resolve(), patience()]);
      for (let n = 0; n < 200; n++) await Promise.resolve();
    });
    await tester.drain();
    expect(tester.runs()).toMatchObject(completedAt(0));
  });

  it('nor in a crafted run', async () => {
    const { tester } = await running(async (tester) => {
      await Promise.race([Promise.resolve(), tester.sleep('1m')]);
      for (let n = 0; n < 200; n++) await Promise.resolve();
    });
    expect(await tester.run('race', null)).toEqual({ outcome: 'completed' });
    expect(tester.now()).toEqual(at(0));
  });

  it('keeps no run open: neither its end nor the close of the application waits for it', async () => {
    const { tester, app, inspector } = await running((tester) =>
      Promise.race([Promise.resolve('won'), tester.sleep('4000 days')]),
    );
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'completed', result: 'won', endedAt: at(0) }]);
    expect(await inspector.counts()).toMatchObject({ active: 0 });
    await app.close();
    expect(tester.runs()).toMatchObject([{ outcome: 'completed' }]);
  });
});

it('a sleep wins against what never comes, at its time', async () => {
  const { tester } = await running(async (tester) => {
    await Promise.race([new Promise(() => {}), tester.sleep('1m')]);
    await realTime(10);
  });
  await tester.advance('3m');
  expect(tester.runs()).toMatchObject(completedAt(MINUTE));
});

describe('a sleep with a signal', () => {
  it('is over as the signal aborts, and the handler is waited for however long it takes', async () => {
    const { tester } = await running(async (tester) => {
      const lost = new AbortController();
      const sleeping = tester.sleep('1m', { signal: lost.signal }).catch((error) => error);
      await Promise.race([Promise.resolve(), sleeping]);
      lost.abort(new Error('lost the race'));
      await realTime(400);
      return ((await sleeping) as Error).message;
    });
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'completed', endedAt: at(0), result: 'lost the race' }]);
  });

  it('rejects at once where the signal has aborted already', async () => {
    const { tester } = await running((tester) => tester.sleep('1m', { signal: AbortSignal.abort('no') }));
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'dead', error: 'no' }]);
  });

  it('wakes a handler whose job times out, at that instant', async () => {
    const seen: unknown[] = [];
    const { tester } = await running(async (tester, { signal }) => {
      await tester.sleep('1h', { signal }).catch((error) => seen.push(error.code, tester.now()));
      await realTime(20);
      seen.push('cleaned up', tester.now());
    });
    await tester.advance('2h');
    expect(seen).toEqual(['JOB_TIMEOUT', at(5 * MINUTE), 'cleaned up', at(5 * MINUTE)]);
  });

  it('wakes a crafted run, too', async () => {
    const { tester } = await running((tester, { signal }) => tester.sleep('1h', { signal }));
    expect(await tester.run('race', null)).toMatchObject({ error: { code: 'JOB_TIMEOUT' } });
    expect(tester.now()).toEqual(at(5 * MINUTE));
  });

  it('is refused where the signal is none', async () => {
    const { tester } = await testedApp();
    await expect(tester.sleep('1m', { signal: 7 as never })).rejects.toThrow(
      'sleep: signal: got 7, expected an AbortSignal.',
    );
    await expect(tester.sleep('1m', { singal: 7 } as never)).rejects.toThrow('sleep: unknown option "singal"');
  });
});

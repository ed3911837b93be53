import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OnScheduledJob, RedisScheduledQueueModule, ScheduledQueueProducer } from '../../../lib/index.js';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
} from '../../../lib/testing/index.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// A tester that is used before the application has started, or after it was closed, says so: where a call did nothing, a test that
// expects nothing would pass.

const SILENT = { log() {}, warn() {}, error() {} };
const NOT_STARTED = /^tester\.\w+: got an application that has not started,.* call await app\.init\(\)/;
const CLOSED = /^tester\.\w+: got an application that was closed,/;

/** Each call, whether it answers at once or by a promise. */
const RUNNING: [call: string, of: (tester: ScheduledQueueTester) => unknown][] = [
  ['advance', (tester) => tester.advance('1h')],
  ['drain', (tester) => tester.drain()],
  ['run', (tester) => tester.run('work', null)],
];
const LOOKING: typeof RUNNING = [
  ['scheduled', (tester) => tester.scheduled()],
  ['runs', (tester) => tester.runs()],
  ['expectNotScheduled', (tester) => tester.expectNotScheduled('other')],
  ['expectScheduled', (tester) => tester.expectScheduled('work')],
];
const FAULTS: typeof RUNNING = [
  ['failNext', (tester) => tester.failNext('work', new Error('no'))],
  ['crashNext', (tester) => tester.crashNext('work')],
  ['loseLeaseNext', (tester) => tester.loseLeaseNext('work')],
  ['deliverTwice', (tester) => tester.deliverTwice()],
];

afterEach(stopTestedApps);

@Injectable()
class Works {
  @OnScheduledJob('work')
  work() {}
}

async function answerOf(of: () => unknown): Promise<{ error?: Error }> {
  try {
    await of();
    return {};
  } catch (error) {
    return { error: error as Error };
  }
}

describe('before app.init()', () => {
  const kit = () =>
    Test.createTestingModule({ imports: [ScheduledQueueTestingModule.forRoot()], providers: [Works] }).setLogger(
      SILENT,
    );
  const override = () =>
    overrideScheduledQueue(
      Test.createTestingModule({ imports: [RedisScheduledQueueModule.forRoot()], providers: [Works] }),
    ).setLogger(SILENT);

  it.each([
    ...RUNNING,
    ...LOOKING,
    ['expectNothingScheduled', (tester) => tester.expectNothingScheduled()],
    ['waitFor', (tester) => tester.waitFor('a', 'due')],
  ] as typeof RUNNING)('%s names app.init()', async (call, of) => {
    for (const builder of [kit(), override()]) {
      const app = await builder.compile();
      const tester = app.get(ScheduledQueueTester);
      await app.get(ScheduledQueueProducer).schedule('work', null, { id: 'a' });
      const { error } = await answerOf(() => of(tester));
      expect(error).toMatchObject({ code: 'TEST_FAILED', message: expect.stringMatching(NOT_STARTED) });
      expect(error!.message).toContain(`tester.${call}:`);
      await app.init();
      expect(String((await answerOf(() => of(tester))).error)).not.toContain('app.init');
      await app.close();
    }
  });

  it('an init that nobody awaited is as none', async () => {
    const app = await kit().compile();
    const starting = app.init();
    await expect(app.get(ScheduledQueueTester).advance('1h')).rejects.toThrow(NOT_STARTED);
    await starting;
    await app.get(ScheduledQueueTester).advance('1h');
    await app.close();
  });

  it('faults may be ordered, and the time be asked for', async () => {
    const app = await kit().compile();
    const tester = app.get(ScheduledQueueTester);
    tester.failNext('work', new Error('no'));
    expect(tester.now()).toBeInstanceOf(Date);
    await app.init();
    await app.get(ScheduledQueueProducer).schedule('work', null);
    await tester.drain();
    expect(tester.runs()).toMatchObject([{ outcome: 'failed' }]);
    await app.close();
  });
});

describe('after app.close()', () => {
  it.each([...RUNNING, ...FAULTS])('%s says that the application was closed', async (call, of) => {
    const { tester, app } = await testedApp([Works]);
    await app.close();
    const { error } = await answerOf(() => of(tester));
    expect(error).toMatchObject({ code: 'TEST_FAILED', message: expect.stringMatching(CLOSED) });
    expect(error!.message).toContain(`tester.${call}:`);
  });

  it.each(LOOKING)('%s still answers what was there at the end', async (_, of) => {
    const { tester, producer, app } = await testedApp([Works]);
    await tester.run('work', null);
    await producer.schedule('work', null, { delay: '1h', id: 'a' });
    const before = await of(tester);
    await app.close();
    expect(await of(tester)).toEqual(before);
  });

  it('waitFor tells what it remembers, and never waits', async () => {
    const { tester, producer, app } = await testedApp([Works]);
    const done = await producer.schedule('work', null);
    await tester.drain();
    const late = await producer.schedule('work', null, { delay: '1h' });
    await app.close();
    await tester.waitFor(done, 'completed');
    for (const state of ['scheduled', 'completed'] as const)
      await expect(tester.waitFor(late, state)).rejects.toThrow('waitFor: the application was closed.');
  });

  it('an application that was never started is told as closed', async () => {
    const app = await Test.createTestingModule({ imports: [ScheduledQueueTestingModule.forRoot()] }).compile();
    const tester = app.get(ScheduledQueueTester);
    await app.close();
    await expect(tester.advance('1h')).rejects.toThrow(CLOSED);
    for (const left of [tester.scheduled(), tester.runs()]) expect(left).toEqual([]);
  });
});

it("with role 'producer' time passes and nothing runs, and run says why it cannot", async () => {
  const { tester, producer } = await testedApp([Works], { role: 'producer' });
  await producer.schedule('work', null);
  await tester.advance('1h');
  expect(tester.runs()).toEqual([]);
  tester.expectScheduled('work');
  await expect(tester.run('work', null)).rejects.toThrow(
    "its role is 'producer', or its option runs does not name the queue",
  );
});

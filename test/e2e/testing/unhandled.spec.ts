import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
  type TestingOptions,
} from '../../../lib/testing/index.js';
import { LogLines } from '../../support/log-lines.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// What is ordered for a job that no handler has would never happen, and the test would pass for nothing.

const typed = defineScheduledJob('typed', { queue: 'mail' });

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await stopTestedApps();
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

@Injectable()
class Handlers {
  @OnScheduledJob(typed)
  typed() {}

  @OnScheduledJob('plain')
  plain() {}
}

describe('faults', () => {
  it.each(['failNext', 'crashNext', 'loseLeaseNext'] as const)('%s of a misspelt name is refused', async (call) => {
    const { tester } = await testedApp([Handlers]);
    expect(() => tester[call]('tpyed', new Error('no'))).toThrow(
      `${call}: no handler of this application has job 'tpyed'. Did you mean 'typed'? A definition in the place of the name cannot be misspelt.`,
    );
    expect(() => tester[call](defineScheduledJob('typed', { queue: 'other' }), new Error('no'))).toThrow(
      `${call}: no handler of this application has job 'typed' of queue 'other'. A handler in queue 'mail' has that name: `,
    );
    tester[call]('typed', new Error('no'));
    tester[call](typed, new Error('no'));
  });

  it('of a definition that names a queue spare a job of the same name in another queue', async () => {
    @Injectable()
    class Both extends Handlers {
      @OnScheduledJob('typed')
      typedToo() {}
    }
    const { tester, producer } = await testedApp([Both]);
    tester.failNext(typed, new Error('no'));
    await producer.schedule('typed', null, { id: 'spared' });
    await tester.drain();
    await producer.schedule(typed, null as never, { id: 'hit' });
    await tester.drain();
    expect(tester.runs().map(({ id, queue, outcome }) => [id, queue, outcome])).toEqual([
      ['spared', 'default', 'completed'],
      ['hit', 'mail', 'failed'],
    ]);
  });

  it('may be ordered before the application has started, when no handler is known yet', async () => {
    const module = await Test.createTestingModule({
      imports: [ScheduledQueueTestingModule.forRoot()],
      providers: [Handlers],
    }).compile();
    module.get(ScheduledQueueTester).failNext('plain', new Error('no'));
    await module.init();
    expect(await module.get(ScheduledQueueTester).run('plain', null)).toMatchObject({ outcome: 'failed' });
    await module.close();
  });

  it('that no run has taken are told when the application is closed', async () => {
    const log = new LogLines();
    const { tester, app } = await testedApp([Handlers], {}, log);
    tester.failNext('plain', new Error('used'));
    await tester.run('plain', null);
    tester.failNext('plain', new Error('unused'));
    tester.crashNext(typed);
    await app.close();
    expect(log.starting('error')).toEqual([
      "error The application under test was closed before these faults had a run: failNext('plain'), crashNext('typed'). Has the job run, and is it that job?",
    ]);
  });
});

describe('run', () => {
  it('names the queue in which a handler has the job', async () => {
    const { tester } = await testedApp([Handlers]);
    await expect(tester.run('typed', null)).rejects.toThrow(
      "run: no handler of this application has job 'typed' of queue 'default'. A handler in queue 'mail' has that name: give the handler, the schedule and this call the same definition, which names the queue.",
    );
  });

  it('names the nearest name', async () => {
    const { tester } = await testedApp([Handlers]);
    await expect(tester.run('plian', null)).rejects.toThrow("Did you mean 'plain'?");
  });
});

describe('a handler that the application leaves to other processes', () => {
  @Module({ imports: [RedisScheduledQueueModule.forRoot({ runs: ['default'] })], providers: [Handlers] })
  class AppModule {}

  const REMEDY =
    "the application leaves job 'typed' of queue 'mail' to other processes: its role is 'producer', or its option runs does not name the queue. To test the handler, lay other options over them: overrideScheduledQueue(builder, { role: undefined, runs: undefined }).";

  async function started(options: TestingOptions = {}) {
    const builder = overrideScheduledQueue(Test.createTestingModule({ imports: [AppModule] }), options);
    const app = await builder.setLogger(new LogLines()).compile();
    await app.init();
    closing.push(app);
    return { tester: app.get(ScheduledQueueTester), producer: app.get(ScheduledQueueProducer) };
  }

  it('is not run, and each call that would have it run says what to do', async () => {
    const { tester, producer } = await started();
    const job = await producer.schedule(typed);
    await producer.schedule('plain', null);
    await tester.drain();
    expect(tester.runs().map(({ name }) => name)).toEqual(['plain']);
    await expect(tester.run(typed)).rejects.toThrow(`run: ${REMEDY}`);
    expect(() => tester.failNext(typed, new Error('no'))).toThrow(`failNext: ${REMEDY}`);
    expect(() => tester.failNext('typed', new Error('no'))).toThrow(`failNext: ${REMEDY}`);
    const waited = tester.waitFor(job, 'completed');
    await expect(waited).rejects.toThrow(`It is due, but ${REMEDY}`);
  });

  it('is run where the test lays over what leaves it', async () => {
    for (const options of [{ runs: undefined }, { runs: ['mail'] }]) {
      const { tester, producer } = await started(options);
      await producer.schedule(typed);
      await tester.drain();
      expect(tester.runs(typed)).toHaveLength(1);
    }
  });

  it('cannot be laid over with a queue that no handler has, or beside the role of a producer', async () => {
    await expect(started({ runs: ['mial'] })).rejects.toThrow("runs: got 'mial'");
    await expect(started({ role: 'producer' })).rejects.toThrow("beside role: 'producer'");
    await expect(started({ role: 'producer', runs: undefined })).resolves.toBeDefined();
  });
});

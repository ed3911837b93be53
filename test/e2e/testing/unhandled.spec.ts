import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { defineScheduledJob, OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { LogLines } from '../../support/log-lines.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// What is ordered for a job that no handler has would never happen, and the test would pass for nothing.

const typed = defineScheduledJob('typed', { queue: 'mail' });

afterEach(stopTestedApps);

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

import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, OnScheduledJobEvent } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';

// loseLeaseNext is a lost lease like any other.

const pay = 'pay';

afterEach(stopTestedApps);

@Injectable()
class Payments {
  @OnScheduledJob(pay)
  pay() {}
}

it('tells the event leaseLost and logs it', async () => {
  const told: unknown[] = [];
  @Injectable()
  class Listens extends Payments {
    @OnScheduledJobEvent('leaseLost')
    hear(event: unknown) {
      told.push(event);
    }
  }
  const log = new LogLines();
  const { tester, producer } = await testedApp([Listens], {}, log);
  tester.loseLeaseNext(pay);
  await producer.schedule(pay, { amount: 1 }, { id: 'p' });
  await tester.drain();
  expect(told).toEqual([{ type: 'leaseLost', queue: 'default', id: 'p', name: 'pay', attempt: 1 }]);
  expect(log.lines).toEqual([
    "warn The lease of job 'pay' (p) of queue 'default' was lost while it ran; its signal is aborted.",
  ]);
});

it('twice for the next two', async () => {
  const { tester, producer } = await testedApp([Payments]);
  tester.loseLeaseNext(pay);
  tester.loseLeaseNext(pay);
  for (const id of ['a', 'b', 'c']) await producer.schedule(pay, { amount: 1 }, { id });
  await tester.drain();
  expect(tester.runs().map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a', 'leaseLost'],
    ['b', 'leaseLost'],
    ['c', 'completed'],
  ]);
  await tester.advance('15s');
  expect(tester.runs().slice(3)).toMatchObject([
    { id: 'a', outcome: 'completed', attempt: 2 },
    { id: 'b', outcome: 'completed', attempt: 2 },
  ]);
});

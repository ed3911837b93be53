import { setTimeout as timeout } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { LogLines } from '../../support/log-lines.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { until } from '../../support/wait.js';

// How long the kit waits for a handler in real time, and what a test hears that its test runner gives up after 5 s.

afterEach(stopTestedApps);

@Injectable()
class Handlers {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('hang')
  hang() {
    return new Promise(() => {});
  }

  @OnScheduledJob('pieces')
  async pieces() {
    for (let piece = 0; piece < 8; piece++) {
      // Real input and output, more of it in all than one piece may take.
      await timeout(800);
      await this.tester.sleep('1s');
    }
  }
}

it('an error is logged before the test runner gives the test up: it names the job, and says what to do', async () => {
  const log = new LogLines();
  const { tester, producer } = await testedApp([Handlers], {}, log);
  await producer.schedule('hang', null, { id: 'h', timeoutMs: 0 });
  let isOver = false;
  const failing = expect(tester.drain())
    .rejects.toThrow('has not ended after 5 s')
    .finally(() => {
      isOver = true;
    });
  await until('the error is logged', () => log.lines.length > 0);
  expect(isOver).toBe(false);
  expect(log.lines).toEqual([
    "error The handler of job 'hang' (h) of queue 'default' has run for 4 s of real time, and the test waits for it; after 5 s its call of the tester fails. If the handler waits for a timer, let it call tester.sleep, or replace what it waits for. A test runner whose timeout is 5 s ends the test before that: raise its timeout to see the error.",
  ]);
  await failing;
  expect(log.lines).toHaveLength(1);
});

it('each piece between two sleeps of a handler may take its time', async () => {
  const log = new LogLines();
  const { tester, producer } = await testedApp([Handlers], {}, log);
  const job = await producer.schedule('pieces', null);
  // Whoever waits for the job waits on while a call of the tester is under way, however long that takes.
  const completed = expect(tester.waitFor(job, 'completed')).resolves.toBeUndefined();
  const from = performance.now();
  await tester.advance('1m');
  expect(performance.now() - from).toBeGreaterThan(5_000);
  await completed;
  expect(log.lines).toEqual([]);
});

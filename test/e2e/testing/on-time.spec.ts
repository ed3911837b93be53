import { afterEach, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// Who sets a fake Date hears of each instant before anything runs at it.

afterEach(stopTestedApps);

const HOUR = 3_600_000;

@Injectable()
class Handlers {
  readonly heard: [what: string, atMs: number][] = [];

  constructor(readonly tester: ScheduledQueueTester) {}

  note(what: string) {
    this.heard.push([what, this.tester.now().getTime() - START]);
  }

  @OnScheduledJob('work')
  async work() {
    this.note('begins');
    await this.tester.sleep('1h');
    this.note('goes on');
  }
}

it('onTime is called at once and at each instant before anything runs at it, until it is ended', async () => {
  const { app, tester, producer } = await testedApp([Handlers]);
  const handlers = app.get(Handlers);
  const end = tester.onTime((now) => {
    expect(now).toEqual(tester.now());
    handlers.note('time');
  });
  await producer.schedule('work', null, { delay: '1h', timeoutMs: 0 });
  await tester.drain();
  await tester.advance('3h');
  expect(handlers.heard).toEqual([
    ['time', 0],
    ['time', HOUR],
    ['begins', HOUR],
    ['time', 2 * HOUR],
    ['goes on', 2 * HOUR],
    ['time', 3 * HOUR],
  ]);
  end();
  await tester.advance('1h');
  expect(handlers.heard).toHaveLength(6);
});

it('the same function twice is two listeners, and each is ended by its own function', async () => {
  const { tester } = await testedApp();
  const listener = jest.fn();
  const [endFirst] = [tester.onTime(listener), tester.onTime(listener)];
  endFirst!();
  await tester.advance('1h');
  expect(listener).toHaveBeenCalledTimes(3);
});

it('what a listener throws fails the call, and what is no function is refused', async () => {
  const { tester } = await testedApp();
  let calls = 0;
  tester.onTime(() => {
    if (calls++ > 0) throw new Error('no such date');
  });
  await expect(tester.advance('1h')).rejects.toThrow('no such date');
  expect(() => tester.onTime('2027' as never)).toThrow('onTime: got "2027", expected a function.');
});

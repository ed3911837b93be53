import { afterEach, expect, it } from '@jest/globals';
import { InvalidScheduleError, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(() => stopApps());

const seen: ScheduledJob[] = [];

class Handlers {
  @OnScheduledJob('work')
  work(_payload: unknown, job: ScheduledJob): void {
    seen.push(job);
  }
}

it('__proto__ among headers, options and ids reaches no prototype', async () => {
  const { producer, inspector } = await startApp([Handlers], { queues: { default: { keepCompleted: 5 } } });
  const headers = JSON.parse('{"__proto__":"polluted","constructor":"text","trace":"1"}');
  await producer.schedule('work', null, { headers });
  for (const id of ['__proto__', 'constructor', 'toString']) {
    const ref = await producer.schedule('work', null, { id });
    expect(ref).toMatchObject({ id, created: true });
  }
  await until('all have run', () => seen.length === 4);
  await until('they are kept', async () => (await inspector.job('__proto__'))?.state === 'completed');
  expect(seen[0]!.headers.trace).toBe('1');
  expect(Object.getPrototypeOf(seen[0]!.headers)).toBe(Object.prototype);
  await expect(producer.schedule('work', null, JSON.parse('{"__proto__":{"priority":1}}'))).rejects.toThrow(
    InvalidScheduleError,
  );
  await expect(producer.schedule('work', null, JSON.parse('{"constructor":{}}'))).rejects.toThrow(InvalidScheduleError);
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).priority).toBeUndefined();
});

it('jobs and queues named like what every object has are names like any other, or refused', async () => {
  class Odd {
    @OnScheduledJob('constructor')
    run(_payload: unknown, job: ScheduledJob): void {
      seen.push(job);
    }
  }
  seen.length = 0;
  const { producer, inspector } = await startApp([Odd]);
  await producer.schedule('constructor', null);
  await producer.schedule('toString', null);
  await producer.schedule('constructor', null, { queue: 'constructor' });
  await until('the one that is handled has run', () => seen.length === 1);
  expect(await inspector.counts()).toMatchObject({ due: 1 });
  await expect(producer.schedule('work', null, { queue: '__proto__' })).rejects.toThrow(InvalidScheduleError);
});

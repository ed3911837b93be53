import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { InvalidScheduleError, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  failing = true;
  readonly runs: { payload: unknown; attempt: number; dueAt: Date }[] = [];

  @OnScheduledJob('work', { maxAttempts: 1 })
  work(payload: unknown, { attempt, dueAt }: ScheduledJob): void {
    if (this.failing) throw new Error(`no ${payload}`);
    this.runs.push({ payload, attempt, dueAt });
  }
}

afterEach(stopApps);

async function startWithDead(count: number) {
  const app = await startApp([Handlers], { queues: { default: { concurrency: 100 } } });
  const refs = await app.producer.scheduleMany(
    Array.from({ length: count }, (_, payload) => ({ job: 'work', payload })),
  );
  await until('all are dead', async () => (await app.inspector.counts()).dead === count);
  return { ...app, refs, handlers: app.get(Handlers) };
}

describe('replayDead', () => {
  it('puts one job back to run from attempt 1, and keeps its history', async () => {
    const { inspector, refs, handlers } = await startWithDead(2);
    handlers.failing = true;
    expect(await inspector.replayDead(refs[0]!)).toBe(1);
    await until('it died again', async () => (await inspector.stats()).dead === 3);
    expect(await inspector.job(refs[0]!)).toMatchObject({ state: 'dead', attempts: 1 });
    expect((await inspector.job(refs[0]!))!.failures.map(({ message }) => message)).toEqual(['no 0', 'no 0']);
    handlers.failing = false;
    expect(await inspector.replayDead(refs[0]!)).toBe(1);
    await until('it completes', () => handlers.runs.length === 1);
    expect(handlers.runs[0]).toMatchObject({ payload: 0, attempt: 1 });
    await until('it is settled', async () => (await inspector.job(refs[0]!)) === null);
    expect(await inspector.counts()).toMatchObject({ dead: 1 });
  });

  it('puts all of many back, at the rate asked for, from the time asked for', async () => {
    const { inspector, consumer } = await startWithDead(250);
    await consumer.stop();
    const at = new Date(Date.now() + 3_600_000);
    expect(await inspector.replayDead('all', { at, perSecond: 10 })).toBe(250);
    expect(await inspector.counts()).toMatchObject({ scheduled: 250, dead: 0 });
    const dueTimes = (await inspector.list('scheduled', { limit: 1_000 })).map(
      ({ dueAt }) => dueAt.getTime() - at.getTime(),
    );
    expect(dueTimes).toEqual(Array.from({ length: 250 }, (_, i) => i * 100));
  });

  it('answers 0 where the job is not dead, and refuses options that it cannot use', async () => {
    const { inspector, producer } = await startWithDead(0);
    const ref = await producer.schedule('work', 1, { delay: '1h' });
    expect(await inspector.replayDead(ref)).toBe(0);
    expect(await inspector.replayDead('all')).toBe(0);
    await expect(inspector.replayDead('all', { perSecond: 0 })).rejects.toThrow(InvalidScheduleError);
    await expect(inspector.replayDead('all', { perSecnd: 1 } as never)).rejects.toThrow("did you mean 'perSecond'?");
    await expect(inspector.replayDead('all', { at: 5 })).rejects.toThrow('looks like seconds');
  });
});

it('purgeDead deletes every dead job and says how many', async () => {
  const { inspector, refs } = await startWithDead(150);
  expect(await inspector.purgeDead()).toBe(150);
  expect(await inspector.counts()).toMatchObject({ dead: 0 });
  expect(await inspector.job(refs[0]!)).toBeNull();
  expect(await inspector.stats()).toMatchObject({ dead: 150, deadDropped: 150 });
});

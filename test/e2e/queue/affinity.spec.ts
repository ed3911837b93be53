import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly ran: { id: string; latenessMs: number }[] = [];

  @OnScheduledJob('work')
  work(_payload: unknown, { id, latenessMs }: ScheduledJob): void {
    this.ran.push({ id, latenessMs });
  }
}

afterEach(stopApps);

/** Workers that sleep for long: what runs in time was told to them, or seen coming. */
const SLEEPY = { leaseMs: 60_000, maxSleepMs: 20_000 };

async function startWorkers(ids: readonly string[], options: object = {}) {
  const prefix = newPrefix();
  const queues = { default: { ...SLEEPY, ...options } };
  const apps = await Promise.all(ids.map((workerId) => startApp([Handlers], { prefix, workerId, queues })));
  const { producer, inspector } = apps[0]!;
  await until('all are there', async () => (await inspector.workers()).length === ids.length);
  return { producer, inspector, apps, ran: (i: number) => apps[i]!.get(Handlers).ran };
}

it('each job runs in the process that it prefers, and at once though all are asleep', async () => {
  const { producer, ran } = await startWorkers(['w1', 'w2', 'w3'], { stealAfterMs: '10m' });
  const refs = [];
  for (let i = 0; i < 12; i++)
    refs.push(await producer.schedule('work', null, { worker: `w${1 + (i % 3)}`, delay: i < 6 ? 0 : 200 }));
  await until('all have run', () => ran(0).length + ran(1).length + ran(2).length === 12, 5_000);
  for (const worker of [0, 1, 2]) {
    const preferring = refs.filter((_, i) => i % 3 === worker).map(({ id }) => id);
    expect(
      ran(worker)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(preferring.sort());
  }
});

it('a job whose preferred process is not there, or has stopped, runs elsewhere at once', async () => {
  const { producer, apps, ran } = await startWorkers(['w1', 'w2'], { stealAfterMs: '10m' });
  await producer.schedule('work', null, { worker: 'never-was' });
  await until('it has run', () => ran(0).length + ran(1).length === 1, 5_000);
  const { id } = await producer.schedule('work', null, { worker: 'w2', delay: 300 });
  await apps[1]!.consumer.stop();
  await until('the other has run it', () => ran(0).some((run) => run.id === id), 5_000);
});

it('a job whose preferred process is full is stolen once it is late enough, though the thief was asleep', async () => {
  class Busy extends Handlers {
    release = () => {};

    @OnScheduledJob('block')
    block(): Promise<void> {
      return new Promise((resolve) => {
        this.release = resolve;
      });
    }
  }
  const prefix = newPrefix();
  const queues = { default: { ...SLEEPY, concurrency: 1, stealAfterMs: 400 } };
  const busy = await startApp([Busy], { prefix, workerId: 'busy', queues });
  const thief = await startApp([Handlers], { prefix, workerId: 'thief', queues });
  const blocking = await busy.producer.schedule('block', null, { worker: 'busy' });
  await until('it is full', async () => (await busy.inspector.job(blocking))?.state === 'active');
  const { id } = await busy.producer.schedule('work', null, { worker: 'busy' });
  await until('it is stolen', () => thief.get(Handlers).ran.length === 1, 5_000);
  expect(thief.get(Handlers).ran[0]).toMatchObject({ id });
  expect(thief.get(Handlers).ran[0]!.latenessMs).toBeGreaterThanOrEqual(400);
  busy.get(Busy).release();
});

it('worker ids are checked', async () => {
  const { producer } = await startApp([Handlers]);
  await expect(producer.schedule('work', null, { worker: 'a:b' })).rejects.toThrow(
    'schedule(\'work\'): worker: got "a:b", expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a letter or digit first.',
  );
});

import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type PoppedJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { QUEUE, TestStore } from '../../support/store.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly running = new Set<string>();
  readonly began: string[] = [];
  private readonly waiting = new Map<string, () => void>();

  @OnScheduledJob('work')
  work(_: unknown, { id }: { id: string }): Promise<void> {
    return this.run(id);
  }

  @OnScheduledJob('other-work', { queue: 'other' })
  other(_: unknown, { id }: { id: string }): Promise<void> {
    return this.run(id);
  }

  finish(id: string): void {
    this.waiting.get(id)!();
  }

  private async run(id: string): Promise<void> {
    this.running.add(id);
    this.began.push(id);
    await new Promise<void>((resolve) => this.waiting.set(id, resolve));
    this.running.delete(id);
  }
}

const store: { current?: TestStore } = {};
afterEach(async () => {
  await stopApps();
  await store.current?.close();
});

/** Makes jobs of the default queue suspects: workers have died with all of them twice. */
async function makeSuspects(prefix: string, name: string, count: number): Promise<string[]> {
  const test = new TestStore({ maxCrashes: 3 }, undefined, prefix);
  store.current = test;
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await test.schedule({ name })).id);
  for (const dies of ['dies', 'dies-too']) {
    await test.worker(dies, name).turn({ limit: count });
    await test.redis.zadd(`${prefix}:{${QUEUE}}:active`, 'XX', ...ids.flatMap((id) => [1, id]));
    await test.worker('recovers', name).turn();
  }
  return ids;
}

it('a suspect waits until nothing else runs in its process, other queues included, and nothing begins beside it', async () => {
  const { producer, consumer, inspector, prefix, get } = await startApp([Handlers], { autoStart: false });
  const handlers = get(Handlers);
  const [suspect] = await makeSuspects(prefix, 'work', 1);
  await producer.reschedule(suspect!, { delay: 1_000 });
  await producer.schedule('other-work', null, { id: 'before', queue: 'other' });
  await consumer.start();
  await until('a job of another queue runs', () => handlers.running.has('before'));
  await producer.schedule('work', null, { id: 'ordinary', delay: 1_500 });
  await until(
    'the process is reserved',
    async () => (await store.current!.redis.exists(`${prefix}:{${QUEUE}}:reservations`)) === 1,
  );
  expect(handlers.began).toEqual(['before']);
  expect(await inspector.explain(suspect!)).toMatchObject({ code: 'suspect' });

  handlers.finish('before');
  await until('the suspect runs', () => handlers.running.has(suspect!));
  await producer.schedule('other-work', null, { id: 'after', queue: 'other' });
  await until('both others are due', async () => (await store.current!.view.counts()).due === 1);
  expect([...handlers.running]).toEqual([suspect]);

  handlers.finish(suspect!);
  await until('the others run', () => handlers.running.has('after') && handlers.running.has('ordinary'));
  for (const id of ['after', 'ordinary']) handlers.finish(id);
});

it('a pop gets a suspect alone, only where the process holds nothing, and others wait until it is settled', async () => {
  const { producer, consumer, prefix } = await startApp();
  const names = ['pulled'];
  await producer.schedule('pulled', null, { id: 'first' });
  const [first] = await consumer.pop({ names });
  const ids = await makeSuspects(prefix, 'pulled', 2);
  expect(await consumer.pop({ names, count: 5 })).toEqual([]);
  await first!.complete();

  await producer.schedule('pulled', null, { id: 'ordinary' });
  const seen: string[][] = [];
  const pop = async (): Promise<PoppedJob[]> => {
    const jobs = await consumer.pop({ names, count: 5, waitMs: 5_000 });
    seen.push(jobs.map(({ id }) => id));
    return jobs;
  };
  for (let left = 3; left > 0; ) {
    const jobs = await pop();
    if (jobs.some(({ id }) => ids.includes(id))) {
      expect(jobs).toHaveLength(1);
      expect(await consumer.pop({ names, count: 5 })).toEqual([]);
    }
    for (const job of jobs) expect(await job.complete()).toBe(true);
    left -= jobs.length;
  }
  expect(seen.flat().sort()).toEqual([...ids, 'ordinary'].sort());
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  InvalidScheduleError,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  ScheduledJob,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const digest = defineScheduledJob<string>('digest', { maxLatenessMs: 20, onLate: 'discard' });

@Injectable()
class Handlers {
  readonly ran: string[] = [];

  @OnScheduledJob(digest)
  digest(_: string, { id }: ScheduledJob): void {
    this.ran.push(id);
  }

  @OnScheduledJob('plain')
  plain(_: unknown, { id }: ScheduledJob): void {
    this.ran.push(id);
  }
}

afterEach(stopApps);

/** An application whose workers are yet to start, so that what is scheduled becomes late. */
async function start(options: RedisScheduledQueueModuleOptions = {}) {
  const app = await startApp([Handlers], { autoStart: false, ...options });
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const late = async () => until('it is late', async () => (await app.inspector.latenessMs()) > 30);
  return { ...app, events, late, handlers: app.get(Handlers) };
}

describe('a job that could not begin within maxLatenessMs', () => {
  it('is discarded where its definition says so, and that is told and counted', async () => {
    const { producer, consumer, inspector, events, late, handlers } = await start();
    const job = await producer.dispatch(digest, 'monday', { id: 'monday' });
    await late();
    await consumer.start();
    await until('it is told', () => events.some(({ type }) => type === 'discarded'));
    expect(events.slice(1)).toEqual([
      {
        type: 'late',
        queue: 'default',
        id: 'monday',
        name: 'digest',
        latenessMs: expect.any(Number),
        onLate: 'discard',
      },
      { type: 'discarded', queue: 'default', id: 'monday', name: 'digest', attempt: 0, reason: 'late' },
    ]);
    expect(handlers.ran).toEqual([]);
    expect(await inspector.job(job)).toBeNull();
    expect(await inspector.stats()).toMatchObject({ discarded: 1, started: 0 });
  });

  it('is dead where the call says so, and runs when it is replayed', async () => {
    const { producer, consumer, inspector, events, late, handlers } = await start();
    const job = await producer.dispatch(digest, 'monday', { maxLatenessMs: '10ms', onLate: 'dead-letter' });
    await late();
    await consumer.start();
    await until('it is dead', () => events.some(({ type }) => type === 'dead'));
    expect(await inspector.job(job)).toMatchObject({ state: 'dead', reason: 'late', attempts: 0 });
    expect(await inspector.explain(job)).toMatchObject({ code: 'dead' });
    expect(events.filter(({ type }) => type === 'late')).toHaveLength(1);
    await consumer.stop();
    await inspector.replayDead(job);
    await consumer.start();
    await until('it has run, or is dead again', async () => {
      const { dead, due, scheduled, active } = await inspector.counts();
      return dead === 1 || due + scheduled + active === 0;
    });
    expect([...handlers.ran, ...(await inspector.list('dead')).map(({ id }) => id)]).toEqual([job.id]);
  });

  it('runs all the same by default, and is told to be late', async () => {
    const { producer, consumer, events, late, handlers } = await start();
    const { id } = await producer.dispatch('plain', null, { maxLatenessMs: 10 });
    await late();
    await consumer.start();
    await until('it has run', () => handlers.ran.length === 1);
    expect(handlers.ran).toEqual([id]);
    expect(events.filter(({ type }) => type === 'late')).toMatchObject([{ id, onLate: 'run', name: 'plain' }]);
  });
});

it('a job that begins in time is neither late nor told to be', async () => {
  const { producer, consumer, events, handlers } = await start();
  await consumer.start();
  await producer.schedule(digest, 'monday', { delay: 50, maxLatenessMs: '1m' });
  await until('it has run', () => handlers.ran.length === 1);
  expect(events.filter(({ type }) => type === 'late')).toEqual([]);
});

it('onLate without maxLatenessMs is refused, before anything is written', async () => {
  const { producer, inspector } = await start();
  const refused = producer.dispatch('plain', null, { onLate: 'discard' });
  await expect(refused).rejects.toThrow(InvalidScheduleError);
  await expect(refused).rejects.toThrow(
    `schedule('plain'): onLate: 'discard' needs maxLatenessMs, expected how late is too late.`,
  );
  expect(await inspector.counts()).toMatchObject({ due: 0 });
});

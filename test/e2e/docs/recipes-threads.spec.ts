import { isMainThread } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledQueueEvent,
  type ScheduleOptions,
} from 'nestjs-redis-scheduled-queue';
import { median } from '../../../bench/report/statistics.js';
import { ASKS_OF_REQUIRE, AT_LEAST_MS, EATS_MEMORY, EXITS, REJECTS_UNHEARD } from '../../processes/hostile.thread.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { makeThumbnail, PhotoStore, PhotoThreads, Thumbnails } from './recipes/handlers-that-compute/thumbnails.js';
import type { Shrinking } from './recipes/handlers-that-compute/thumbnails.thread.js';

// docs/recipes.md, "Handlers that compute": the printed handler, with the printed thread and with one that does harm.

/** Working directories. The global set-up (test/support/compile.mjs) has compiled a thread for each, as its `dist/thumbnails.thread.js`. */
const PRINTED = 'dist-test/threads';
const HOSTILE = 'dist-test/hostile-threads';
/** A step of the printed thread that never ends. */
const ENDLESS = 0;
const ONCE_MORE = { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 10 } } satisfies ScheduleOptions;

@Injectable()
class Photos extends PhotoStore {
  readonly buffers: ArrayBuffer[] = [];
  readonly saved = new Map<string, number[]>();
  wasInProcess = true;

  async read() {
    this.wasInProcess &&= isMainThread;
    const pixels = Uint8Array.from({ length: 16 }, (_, i) => i).buffer;
    this.buffers.push(pixels);
    return { pixels, width: 4 };
  }

  async saveThumbnail(name: string, pixels: ArrayBuffer) {
    this.saved.set(name, [...new Uint8Array(pixels)]);
  }
}

@Injectable()
class Ticks {
  /** When each was called. */
  readonly at: number[] = [];

  @OnScheduledJob('tick')
  tick() {
    this.at.push(performance.now());
  }
}

class Log extends LogLines {
  readonly ofThreads: string[] = [];

  override error(message: unknown, ...more: unknown[]): void {
    super.error(message, ...more);
    if (more.at(-1) === PhotoThreads.name) this.ofThreads.push(String(message));
  }
}

afterEach(stopApps);

async function startIn(folder: string, options: RedisScheduledQueueModuleOptions = {}) {
  const log = new Log();
  const providers = [Thumbnails, PhotoThreads, { provide: PhotoStore, useClass: Photos }, Ticks];
  const here = process.cwd();
  process.chdir(folder);
  const app = await startApp(providers, options, { log }).finally(() => process.chdir(here));
  const told: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => told.push(event));
  const shrink = (photo: string, step: Shrinking['step'], options: ScheduleOptions = {}) =>
    app.producer.dispatch(makeThumbnail, { photo, step }, { id: photo, ...options });
  const heard = (type: ScheduledQueueEvent['type'], id: string) =>
    until(`${type} of ${id}`, () => told.find((event) => event.type === type && event.id === id));
  const threads = app.get(PhotoThreads);
  return { ...app, photos: app.app.get<Photos>(PhotoStore as never), threads, log, told, shrink, heard };
}

/** A thread that has ended has no id. */
const hasEnded = ({ threadId }: { threadId: number }) => threadId === -1;

describe('with the printed thread', () => {
  it('a thumbnail is made, and its pixels are moved to the thread and not copied', async () => {
    const { shrink, heard, photos } = await startIn(PRINTED);
    await shrink('a', 2);
    await heard('completed', 'a');
    expect([...photos.saved]).toEqual([['a', [0, 2, 8, 10]]]);
    expect(photos.buffers.map(({ byteLength }) => byteLength)).toEqual([0]);
    expect(photos.wasInProcess).toBe(true);
  });

  it('an endless loop is ended by timeoutMs and tried again, and other jobs start meanwhile', async () => {
    const { shrink, heard, photos, threads, told, producer, get } = await startIn(PRINTED);
    await shrink('endless', ENDLESS, { ...ONCE_MORE, maxAttempts: 1_000, timeoutMs: '1s' });
    await heard('started', 'endless');
    const before = [...threads.threads];
    const ticks = get(Ticks);
    const looping = () => {
      const last = told.findLast(({ type, id }) => id === 'endless' && (type === 'started' || type === 'failed'));
      return last?.type === 'started' ? last : undefined;
    };
    // From the call of dispatch to that of the handler. In one attempt at least: a machine that is busy with other things proves nothing.
    await until(
      'the median of 20 jobs, dispatched one after the other while it loops, starts within 20 ms',
      async () => {
        const attempt = looping();
        const tookMs: number[] = [];
        for (let i = 0; i < 20; i++) {
          const from = performance.now();
          const { length } = ticks.at;
          await producer.dispatch('tick', null);
          await until('a tick', () => ticks.at.length > length);
          tookMs.push(ticks.at.at(-1)! - from);
        }
        return attempt !== undefined && looping() === attempt && median(tookMs) < 20;
      },
    );
    await shrink('beside', 2);
    await heard('completed', 'beside');
    const failed = await heard('failed', 'endless');
    expect(failed).toMatchObject({ attempt: 1, error: { name: 'JobTimeoutError' } });
    await until('it is tried again', () => told.some((event) => event.type === 'started' && event.attempt === 2));
    await until('its thread has ended', () => before.some(hasEnded));
    expect([...photos.saved.keys()]).toEqual(['beside']);
  });

  it('a cancellation ends the thread of its job, and the place is free at once', async () => {
    const { shrink, heard, threads, inspector } = await startIn(PRINTED);
    await Promise.all(['a', 'b'].map((photo) => shrink(photo, ENDLESS)));
    await Promise.all(['a', 'b'].map((photo) => heard('started', photo)));
    await until('both have a thread', () => threads.threads.length === 2);
    const before = [...threads.threads];
    await shrink('waits', 2);
    expect(await inspector.cancelRunning('a')).toBe(true);
    await heard('cancelled', 'a');
    await heard('completed', 'waits');
    await until('its thread has ended', () => before.some(hasEnded));
    expect((await inspector.workers())[0]).toMatchObject({ stuck: 0 });
  });

  it('a shutdown ends the thread once shutdownTimeoutMs is over, and the job goes back', async () => {
    const { app, shrink, heard, threads, log, prefix } = await startIn(PRINTED, { shutdownTimeoutMs: 300 });
    await shrink('endless', ENDLESS);
    await heard('started', 'endless');
    const before = [...threads.threads];
    await app.close();
    await until('its thread has ended', () => before.every(hasEnded));
    // Piscina had begun another one in its place.
    expect(threads.threads).toHaveLength(0);
    expect(log.lines).toEqual([
      'log Waiting up to 300 ms for 1 running job: photo.thumbnail.',
      'log Done waiting for 1 running job: 1 went back to the queue.',
    ]);
    const { inspector } = await startApp([], { prefix });
    expect(await inspector.job('endless')).toMatchObject({ state: 'due', attempts: 0, crashes: 0 });
  });

  it('a file that is not there is in the log, and its job fails by its time', async () => {
    const { shrink, heard, log } = await startIn('test');
    await until('it is told', () => log.ofThreads.some((line) => line.includes('thumbnails.thread.js')));
    await shrink('a', 2, { timeoutMs: '1s', maxAttempts: 1 });
    await heard('dead', 'a');
  });
});

describe('with a thread that does harm', () => {
  it('a job that computes for longer than its lease keeps it, and is run once', async () => {
    const leaseMs = 1_000;
    const { shrink, heard, told, inspector } = await startIn(HOSTILE, { queues: { default: { leaseMs } } });
    await shrink('slow', AT_LEAST_MS + 2 * leaseMs);
    await heard('completed', 'slow');
    expect(told.map(({ type }) => type).filter((type) => type !== 'scheduled')).toEqual(['started', 'completed']);
    expect(await inspector.stats()).toMatchObject({ started: 1, recovered: 0, completed: 1 });
  });

  it('requires no ES module: a thread that is ended while it does so would take the process with it', async () => {
    const { shrink, heard, photos } = await startIn(HOSTILE);
    await shrink('asks', ASKS_OF_REQUIRE);
    await heard('completed', 'asks');
    expect(photos.saved.get('asks')).toEqual([0]);
  });

  it.each([
    ['exits', EXITS, { message: 'worker exited with code: 7' }],
    ['reaches the limit of its memory', EATS_MEMORY, { code: 'ERR_WORKER_OUT_OF_MEMORY' }],
    ['lets a promise reject', REJECTS_UNHEARD, { message: 'nobody hears it' }],
  ])('a thread that %s fails the attempt of its own job, and takes nobody with it', async (_, step, error) => {
    const { shrink, heard, log, inspector } = await startIn(HOSTILE);
    await shrink('beside', AT_LEAST_MS);
    await shrink('harmful', step, ONCE_MORE);
    expect(await heard('failed', 'harmful')).toMatchObject({ attempt: 1, error });
    expect(await heard('dead', 'harmful')).toMatchObject({ reason: 'attempts-exhausted' });
    await heard('completed', 'beside');
    expect(await inspector.stats()).toMatchObject({ started: 3, failed: 2, recovered: 0, completed: 1 });
    await shrink('after', 1);
    await heard('completed', 'after');
    expect(log.ofThreads).toEqual([]);
  });
});

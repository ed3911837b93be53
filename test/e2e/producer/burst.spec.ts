import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from '@jest/globals';
import { OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const JOBS = 100_000;
const CONCURRENCY = 200;

class Handlers {
  static running = 0;
  static most = 0;
  static ran = 0;
  static lateness: number[] = [];

  @OnScheduledJob('burst')
  async burst(): Promise<void> {
    Handlers.most = Math.max(Handlers.most, ++Handlers.running);
    await sleep(3);
    Handlers.running--;
    Handlers.ran++;
  }

  @OnScheduledJob('steady', { queue: 'other' })
  steady(_payload: unknown, { latenessMs }: ScheduledJob): void {
    Handlers.lateness.push(latenessMs);
  }
}

afterEach(() => stopApps());

it('a hundred thousand jobs due at one instant run once each, in flat memory, and starve neither another queue nor the event loop', async () => {
  const prefix = newPrefix();
  const queues = { default: { concurrency: CONCURRENCY } };
  const filler = await startApp([], { prefix, role: 'producer' });
  const at = new Date(Date.now() - 1_000);
  for (let i = 0; i < JOBS; i += 10_000)
    await filler.producer.scheduleMany(
      Array.from({ length: 10_000 }, () => ({ job: 'burst', payload: null, options: { at } })),
    );
  expect((await filler.inspector.counts()).due).toBe(JOBS);

  const { consumer, inspector } = await startApp([Handlers], { prefix, queues, autoStart: false });
  const heapMiB = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const heapBefore = heapMiB();
  const lag = monitorEventLoopDelay({ resolution: 5 });
  const from = performance.now();
  lag.enable();
  await consumer.start();
  let steady = 0;
  let grownMiB = 0;
  while (Handlers.ran < JOBS) {
    await filler.producer.schedule('steady', null, { queue: 'other' });
    steady++;
    if (grownMiB === 0 && Handlers.ran > JOBS / 3) grownMiB = heapMiB() - heapBefore;
    await sleep(20);
    if (performance.now() - from > 60_000) throw new Error(`only ${Handlers.ran} ran in a minute`);
  }
  lag.disable();
  const ms = performance.now() - from;
  await until('all are settled', async () => (await inspector.stats()).completed === JOBS);
  await until('the other queue is done too', () => Handlers.lateness.length === steady);
  const worst = Math.max(...Handlers.lateness);
  const p99 = lag.percentile(99) / 1e6;
  process.stdout.write(
    `${JOBS} due at once: ${Math.round(ms)} ms, event loop lag p99 ${p99.toFixed(0)} ms, most ${(lag.max / 1e6).toFixed(0)} ms; ` +
      `${steady} jobs of another queue meanwhile, at most ${worst} ms late; ${grownMiB.toFixed(0)} MiB more heap under way\n`,
  );
  expect(Handlers.most).toBeLessThanOrEqual(CONCURRENCY);
  expect(Handlers.ran).toBe(JOBS);
  expect(await inspector.stats()).toMatchObject({ started: JOBS, completed: JOBS, recovered: 0 });
  // What a hundred thousand jobs in memory would take is several times as much.
  expect(grownMiB).toBeLessThan(30);
  expect(p99).toBeLessThan(500);
  expect(worst).toBeLessThan(3_000);
});

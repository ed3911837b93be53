import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

/** How much runs at once, by name, and the most that ever did. */
class Load {
  readonly now: Record<string, number> = {};
  readonly most: Record<string, number> = {};
  readonly done: Record<string, number> = {};
  readonly order: string[] = [];

  async run(name: string, weight: number, ms: number): Promise<void> {
    this.order.push(name);
    this.change(name, 1);
    this.change('weight', weight);
    await sleep(ms);
    this.change(name, -1);
    this.change('weight', -weight);
    this.done[name] = (this.done[name] ?? 0) + 1;
  }

  private change(name: string, by: number): void {
    this.now[name] = (this.now[name] ?? 0) + by;
    this.most[name] = Math.max(this.most[name] ?? 0, this.now[name]);
  }
}

class Weighted extends Load {
  @OnScheduledJob('one')
  one(): Promise<void> {
    return this.run('one', 1, 3);
  }

  @OnScheduledJob('three', { weight: 3 })
  three(): Promise<void> {
    return this.run('three', 3, 5);
  }

  @OnScheduledJob('five', { weight: 5 })
  five(): Promise<void> {
    return this.run('five', 5, 8);
  }
}

it('weights of 1, 3 and 5 under a concurrency of 10 never exceed it, and starve none', async () => {
  const { producer, consumer, inspector, get } = await startApp([Weighted], { autoStart: false });
  const names = ['one', 'three', 'five'];
  const jobs = Array.from({ length: 900 }, (_, i) => ({ job: names[i % 3]!, payload: i }));
  await producer.scheduleMany(jobs);
  await consumer.start();
  await until('all have run', async () => (await inspector.stats()).completed === 900);
  const { most, done, order } = get(Weighted);
  expect(done).toEqual({ one: 300, three: 300, five: 300 });
  expect(most.weight).toBeLessThanOrEqual(10);
  // There was always enough to fill it up to the lightest of what could not be fitted in.
  expect(most.weight).toBeGreaterThanOrEqual(9);
  // Due at once, in the order of their schedule: nobody is ever far ahead of the others.
  const ahead = order.map((_, i) => {
    const begun = names.map((name) => order.slice(0, i + 1).filter((other) => other === name).length);
    return Math.max(...begun) - Math.min(...begun);
  });
  expect(Math.max(...ahead)).toBeLessThanOrEqual(10);
});

class Limited extends Load {
  @OnScheduledJob('slow', { concurrency: 2 })
  slow(): Promise<void> {
    return this.run('slow', 1, 20);
  }

  @OnScheduledJob('quick')
  quick(): Promise<void> {
    return this.run('quick', 1, 1);
  }
}

it("a handler's own limit holds up no others", async () => {
  const { producer, inspector, get } = await startApp([Limited]);
  await producer.scheduleMany(Array.from({ length: 40 }, (_, i) => ({ job: 'slow', payload: i })));
  await producer.scheduleMany(Array.from({ length: 40 }, (_, i) => ({ job: 'quick', payload: i })));
  await until('the quick ones are done', () => get(Limited).done.quick === 40);
  expect(get(Limited).done.slow ?? 0).toBeLessThan(40);
  await until('all have run', async () => (await inspector.stats()).completed === 80);
  expect(get(Limited).most.slow).toBe(2);
});

it('what one process has no room for in a handler runs in another at once', async () => {
  const first = await startApp([Limited], {
    workerId: 'first',
    queues: { default: { maxSleepMs: 60_000, leaseMs: 180_000 } },
  });
  const { prefix, producer, inspector } = first;
  await startApp([Limited], {
    prefix,
    workerId: 'second',
    queues: { default: { maxSleepMs: 60_000, leaseMs: 180_000 } },
  });
  // Both idle and asleep: the first to be told is full after two, and must pass the others on.
  await producer.scheduleMany(Array.from({ length: 40 }, (_, i) => ({ job: 'slow', payload: i })));
  await until('all have run', async () => (await inspector.stats()).completed === 40);
  const second = started(first.get(Limited).done.slow ?? 0);
  expect(second).toBeGreaterThan(5);
});
const started = (byFirst: number) => 40 - byFirst;

it('configuration wins over the decorator', async () => {
  const jobs = { slow: { concurrency: 1 }, quick: { weight: 10 } };
  const { producer, inspector, get } = await startApp([Limited], { jobs });
  await producer.scheduleMany(Array.from({ length: 20 }, (_, i) => ({ job: i % 2 ? 'slow' : 'quick', payload: i })));
  await until('all have run', async () => (await inspector.stats()).completed === 20);
  expect(get(Limited).most).toMatchObject({ slow: 1, quick: 1 });
});

class TooHeavy {
  @OnScheduledJob('heavy', { weight: 11 })
  heavy(): void {}
}

it('a handler that weighs more than its queue holds is refused at start', async () => {
  await expect(startApp([TooHeavy])).rejects.toThrow(
    "TooHeavy.heavy (RootTestModule): weight: got 11, expected at most 10, the concurrency of queue 'default'. Raise queues['default'].concurrency, or lower the weight.",
  );
});

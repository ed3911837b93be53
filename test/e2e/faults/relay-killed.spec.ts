import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { relayKey } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { listElements, streamEntries } from '../../support/relayed.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let redis: Redis;
/** A target of this test alone. */
let key: string;
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  redis = new Redis(redisUrl());
  key = relayKey('default', newPrefix());
});

afterEach(async () => {
  await stopApps();
  for (const cleanup of cleanups.splice(0)) await cleanup();
  await redis.del(key);
  redis.disconnect();
});

it.each(['stream', 'list'] as const)(
  'moves every job to a %s once, whichever of its processes are killed in between',
  async (type) => {
    const JOBS_A_KILL = 10_000;
    const workers = new WorkerProcesses();
    cleanups.push(() => workers.stop());
    const { producer, inspector } = await startApp([], { prefix: workers.prefix });
    const refs: { id: string }[] = [];
    const relaysTo = type === 'stream' ? { stream: key } : { list: key };
    const length = () => (type === 'stream' ? redis.xlen(key) : redis.llen(key));
    // 5 000 a second, so that there is time to kill in between.
    const options = { relaysTo, rateLimit: { max: 50, perMs: 10 } };
    await workers.start('stays', options);
    for (const id of ['killed-1', 'killed-2', 'killed-3']) {
      await workers.start(id, options);
      // Only now, as on a busy machine a process takes longer to start than it takes to move them.
      const jobs = Array.from({ length: JOBS_A_KILL }, (_, i) => ({ job: 'work', payload: refs.length + i }));
      refs.push(...(await producer.scheduleMany(jobs)));
      const from = await length();
      await until('it is under way', async () => (await length()) > from);
      workers.signal(id, 'SIGKILL');
      await workers.ended(id);
      expect(await length()).toBeLessThan(refs.length);
    }
    await until('all are moved', async () => (await inspector.stats()).completed === refs.length);
    const out = type === 'stream' ? await streamEntries(redis, key) : await listElements(redis, key);
    expect(out.map(({ id }) => id).sort()).toEqual(refs.map(({ id }) => id).sort());
    const all = refs.length;
    expect(await inspector.stats()).toMatchObject({ scheduled: all, started: all, completed: all });
    expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    expect(await audit(redis, workers.prefix)).toEqual([]);
  },
);

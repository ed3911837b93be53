import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { ScheduledQueueMetricsModule } from '../../../lib/prometheus/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { Scrape } from '../../support/scrape.js';
import { until } from '../../support/wait.js';

const QUEUES = ['a', 'b', 'c', 'd', 'e', 'f'];
/** The hash tag of the key that lists the queues. */
const LIST = '*';

let cluster: TestCluster;
let registry: Registry;

beforeAll(async () => {
  cluster = await TestCluster.start();
});

afterEach(async () => {
  for (const server of cluster.servers) server.thaw();
  await stopApps();
});
afterAll(() => cluster.stop());

const scrape = () => Scrape.of(registry);
const homeOf = (tag: string) => cluster.homeOf(`{${tag}}`);

/** As many jobs in each queue as its place in the list. */
async function start(): Promise<void> {
  registry = new Registry();
  const imports = [ScheduledQueueMetricsModule.forRoot({ registry })];
  const { producer } = await startApp([], { connection: { cluster: { nodes: cluster.nodes } } }, { imports });
  for (const [i, queue] of QUEUES.entries())
    for (let job = 0; job <= i; job++) await producer.schedule('later', {}, { delay: '1h', queue });
}

it('queues on all nodes of a cluster are read', async () => {
  await start();
  const read = await scrape();
  expect(read.value('scheduled_queue_redis_up')).toBe(1);
  expect(Math.abs(read.value('scheduled_queue_clock_offset_seconds')!)).toBeLessThan(0.5);
  const counts = QUEUES.map((queue) => read.value('scheduled_queue_jobs', { queue, state: 'scheduled' }));
  expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
});

it.each([
  ['lists the queues', true],
  ['has some of the queues', false],
])(
  'Redis is down where the node of a cluster that %s is frozen, and the queues of the others are shown',
  async (_, lists) => {
    // By default, a cluster of which one node is away refuses all calls.
    for (const [i] of cluster.servers.entries())
      await cluster.client(i).config('SET', 'cluster-require-full-coverage', 'no');
    await start();
    expect((await scrape()).labels('scheduled_queue_jobs', 'queue')).toEqual(QUEUES);
    const list = await homeOf(LIST);
    const homes = await Promise.all(QUEUES.map(homeOf));
    const frozen = lists ? list : homes.find(({ index }) => index !== list.index)!;
    const others = QUEUES.filter((_, i) => homes[i]!.index !== frozen.index);
    expect(others.length).toBeGreaterThan(0);
    frozen.server.freeze();
    // For 5 s what was read before is shown.
    const shown = async () => (await scrape()).labels('scheduled_queue_jobs', 'queue');
    await until('the others are read anew', async () => String(await shown()) === String(others));
    for (let i = 0; i < 4; i++) {
      const from = performance.now();
      const read = await scrape();
      expect(performance.now() - from).toBeLessThan(3_000);
      expect(read.value('scheduled_queue_redis_up')).toBe(0);
      expect(read.labels('scheduled_queue_jobs', 'queue')).toEqual(others);
      expect(read.labels('scheduled_queue_oldest_due_seconds', 'queue')).toEqual(others);
    }
    frozen.server.thaw();
    await until('all are read again', async () => (await scrape()).value('scheduled_queue_redis_up') === 1);
    expect(await shown()).toEqual(QUEUES);
  },
);

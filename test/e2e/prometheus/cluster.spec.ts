import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { ScheduledQueueMetricsModule } from '../../../lib/prometheus/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { Scrape } from '../../support/scrape.js';

const QUEUES = ['a', 'b', 'c', 'd', 'e', 'f'];

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
}, 60_000);

afterEach(stopApps);
afterAll(() => cluster.stop());

it('queues on all nodes of a cluster are read', async () => {
  const registry = new Registry();
  const imports = [ScheduledQueueMetricsModule.forRoot({ registry })];
  const { producer } = await startApp([], { connection: { cluster: { nodes: cluster.nodes } } }, { imports });
  for (const [i, queue] of QUEUES.entries())
    for (let job = 0; job <= i; job++) await producer.schedule('later', {}, { delay: '1h', queue });
  const read = await Scrape.of(registry);
  expect(read.value('scheduled_queue_redis_up')).toBe(1);
  expect(Math.abs(read.value('scheduled_queue_clock_offset_seconds')!)).toBeLessThan(0.5);
  const counts = QUEUES.map((queue) => read.value('scheduled_queue_jobs', { queue, state: 'scheduled' }));
  expect(counts).toEqual([1, 2, 3, 4, 5, 6]);
});

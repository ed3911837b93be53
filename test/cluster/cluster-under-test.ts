import type { Redis } from 'ioredis';
import type { History } from '../chaos/history.js';
import { monotonicMs } from '../chaos/history.js';
import type { Connected } from '../chaos/member.js';
import { QueuesUnderTest } from '../chaos/queues-under-test.js';
import { QUEUE_NAMES, type QueueName } from '../chaos/settings.js';
import { TestCluster } from '../support/redis-cluster.js';
import { startOwnServer } from '../support/redis-server.js';

/** As Redis has it by default: a large key takes longer than a cluster for tests would wait for a silent node. */
const NODE_TIMEOUT_MS = '15000';

/** The queues of the chaos suite on three masters, between which their slots move. */
export class ClusterUnderTest extends QueuesUnderTest {
  private constructor(
    private readonly cluster: TestCluster,
    private readonly homes: Map<QueueName, { slot: number; index: number; other: number }>,
    history: History,
  ) {
    super(history);
    this.watchClock(cluster.client(0));
  }

  static async start(history: History): Promise<ClusterUnderTest> {
    const cluster = await TestCluster.start(0, (...options) =>
      startOwnServer(...options, '--cluster-node-timeout', NODE_TIMEOUT_MS),
    );
    const homes: ClusterUnderTest['homes'] = new Map();
    for (const queue of QUEUE_NAMES) {
      const { slot, index } = await cluster.homeOf(`{${queue}}`);
      homes.set(queue, { slot, index, other: (index + 1) % 3 });
    }
    return new ClusterUnderTest(cluster, homes, history);
  }

  async connect(): Promise<Connected> {
    return { connection: { cluster: { nodes: this.cluster.nodes } } };
  }

  /** Moves the queue to its other server, or back. Answers how long its largest key took, in ms. */
  async move(queue: QueueName): Promise<number> {
    const { slot, index, other } = this.homes.get(queue)!;
    const from = monotonicMs();
    const longestMs = await this.cluster.moveSlot(slot, index, other);
    this.homes.set(queue, { slot, index: other, other: index });
    this.history.note({ type: 'fault', fault: 'moveSlot', target: 'redis', from, done: true });
    return longestMs;
  }

  homeOf(queue: QueueName): Redis {
    return this.cluster.client(this.homes.get(queue)!.index);
  }

  protected stopServers(): Promise<void> {
    return this.cluster.stop();
  }
}

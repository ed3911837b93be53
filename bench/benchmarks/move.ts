import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { TestCluster } from '../../test/support/redis-cluster.js';
import { startOwnServer } from '../../test/support/redis-server.js';
import type { Benchmark, Context } from '../benchmark.js';
import type { Job } from '../contestants/contestant.js';
import { IN_AN_HOUR } from '../measure/payloads.js';
import { passed } from '../measure/starts.js';
import { fill } from '../measure/throughput.js';

/** So long that no server counts as failed meanwhile: what is measured is how long it takes. */
const NODE_TIMEOUT_MS = '600000';
/** Starts before the move, and after it. */
const AT_WORK = 200;

export const move: Benchmark = {
  name: 'move',
  about:
    'On a cluster of three servers: the slot of a queue moves, by SETSLOT and MIGRATE, beside 100 000 and 1 000 000 waiting jobs with payloads ' +
    'of 300 bytes that do not compress. Jobs are scheduled and run all the time. How long none began, and for how long the largest key held both servers.',
  contestants: ['ours'],
  cases: [
    { name: '100k', size: { jobs: 100_000, bytes: 300 }, quick: { jobs: 2_000 } },
    { name: '1m', size: { jobs: 1_000_000, bytes: 300 }, quick: { jobs: 20_000 } },
  ],
  figures: [
    { key: 'still100k', title: 'The queue stands still, 100 000 jobs', unit: 'ms', better: 'less' },
    { key: 'key100k', title: 'Largest key, 100 000 jobs', unit: 'ms', better: 'less' },
    { key: 'still1m', title: 'The queue stands still, 1 000 000 jobs', unit: 'ms', better: 'less' },
    { key: 'key1m', title: 'Largest key, 1 000 000 jobs', unit: 'ms', better: 'less' },
  ],
  bars: [],
  timeoutMs: 600_000,

  async run(context) {
    const startNode = (...options: string[]) => startOwnServer(...options, '--cluster-node-timeout', NODE_TIMEOUT_MS);
    const cluster = await TestCluster.start(0, startNode);
    try {
      return await moved(context, cluster);
    } finally {
      // The session ends with its process, after the cluster; nobody need hear that its connections are gone.
      Logger.overrideLogger(false);
      await cluster.stop();
    }
  },
};

async function moved({ open, size, case: which }: Context, cluster: TestCluster): Promise<Record<string, number>> {
  let starts = 0;
  let lastAt = performance.now();
  let longestMs = 0;
  const handle = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - lastAt);
    lastAt = now;
    starts++;
  };
  const session = await open({ concurrency: 100, handle, nodes: cluster.nodes });
  await fill(session, size('jobs'), { payload: text(size('bytes')), dueAt: IN_AN_HOUR() });
  await session.start();
  let isOver = false;
  const scheduling = (async () => {
    // Calls end without an answer, or are refused, where the slot moves for longer than `commandTimeoutMs`.
    while (!isOver) await session.schedule({ payload: text(size('bytes')) }).catch(() => passed(50));
  })();
  const begun = async (more: number) => {
    for (const from = starts; starts < from + more; ) await passed(5);
  };
  await begun(AT_WORK);
  longestMs = 0;
  const { slot, index } = await cluster.homeOf('{default}');
  const keyMs = await cluster.moveSlot(slot, index, (index + 1) % 3);
  await begun(AT_WORK);
  isOver = true;
  await scheduling;
  return { [`still${which}`]: longestMs, [`key${which}`]: keyMs };
}

/** So many bytes of JSON. */
function text(bytes: number): Job['payload'] {
  const length = bytes - JSON.stringify({ text: '' }).length;
  return { text: randomBytes(length).toString('base64').slice(0, length) };
}

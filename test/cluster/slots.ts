// The workers and producers of the chaos suite on a cluster, beside many jobs that wait, while the slots of their queues move back and
// forth; then the rules of that suite. Prints how long the queue stood still; exits with 1 where a rule is broken.
import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { play } from '../chaos/chaos.js';
import type { History } from '../chaos/history.js';
import { tell, tellViolations } from '../chaos/report.js';
import { PREFIX, QUEUE_NAMES, QUEUE_OPTIONS, type QueueName } from '../chaos/settings.js';
import { until } from '../support/wait.js';
import { ClusterUnderTest } from './cluster-under-test.js';

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '200000' },
    moves: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    kind: { type: 'string' },
  },
});
const JOBS = Number(values.jobs);
const MOVES = Number(values.moves);
const A_CALL = 5_000;
const A_DAY_MS = 86_400_000;
/** No job has waited for longer than that when a slot is moved. */
const CAUGHT_UP_MS = 1_000;
const CATCHES_UP_WITHIN_MS = 120_000;

const say = (line: string) => void process.stdout.write(`${line}\n`);
const ids = Array.from({ length: JOBS }, (_, i) => `waits-${i}`);

@Module({})
class HarnessModule {}

/** A producer in this process, which waits out the longest move. */
async function openProducer(cluster: ClusterUnderTest) {
  const module = RedisScheduledQueueModule.forRoot({
    ...(await cluster.connect()),
    prefix: PREFIX,
    role: 'producer',
    commandTimeoutMs: 60_000,
    queues: { default: QUEUE_OPTIONS },
  });
  return NestFactory.createApplicationContext({ module: HarnessModule, imports: [module] });
}

async function scheduleWaiting(producer: ScheduledQueueProducer, history: History): Promise<void> {
  const when = { at: Date.now() + A_DAY_MS };
  const note = { call: 1, queue: 'default' } as const;
  for (let from = 0; from < JOBS; from += A_CALL) {
    const some = ids.slice(from, from + A_CALL).map((id) => {
      const payload = { token: id, revision: 0, kind: 'quick' } as const;
      history.note({ type: 'call', ...note, operation: 'schedule', token: id, id, when, payload });
      return { job: 'quick', payload, options: { id, ...when } };
    });
    for (const { id, created, status, dueAt } of await producer.scheduleMany(some)) {
      const told = { id, changed: created, status, dueAt: dueAt!.getTime() };
      history.note({ type: 'answer', call: 1, token: id, outcome: 'ok', ...told });
    }
  }
}

async function cancelWaiting(producer: ScheduledQueueProducer, history: History): Promise<void> {
  const note = { call: 2, queue: 'default' } as const;
  for (let from = 0; from < JOBS; from += A_CALL) {
    const some = ids.slice(from, from + A_CALL).map(async (id) => {
      history.note({ type: 'call', ...note, operation: 'cancel', token: id, id });
      const changed = await producer.cancel(id);
      history.note({ type: 'answer', call: 2, token: id, outcome: 'ok', id, changed });
    });
    await Promise.all(some);
  }
}

/** Resolves to how long the longest call took that changed the queue until `over`, in ms; one at a time. */
async function longestCall(producer: ScheduledQueueProducer, over: Promise<unknown>): Promise<number> {
  let isOver = false;
  void over.finally(() => {
    isOver = true;
  });
  let longestMs = 0;
  for (let i = 0; !isOver; i++) {
    const calledAt = performance.now();
    await producer.reschedule(ids[i % JOBS]!, { at: Date.now() + A_DAY_MS });
    longestMs = Math.max(longestMs, performance.now() - calledAt);
  }
  return longestMs;
}

/** Of suspects, which run alone, some may wait. */
async function hasCaughtUp(cluster: ClusterUnderTest, queue: QueueName): Promise<boolean> {
  const [, earliest] = await cluster.homeOf(queue).zrange(queueKeys(PREFIX, queue).levels, '0', '0', 'WITHSCORES');
  return earliest === undefined || Number(earliest) > Date.now() - CAUGHT_UP_MS;
}

async function moveBackAndForth(cluster: ClusterUnderTest, history: History): Promise<void> {
  const app = await openProducer(cluster);
  const producer = app.get(ScheduledQueueProducer);
  await scheduleWaiting(producer, history);
  say(`${JOBS} jobs wait`);
  for (let move = 1; move <= MOVES; move++) {
    for (const queue of QUEUE_NAMES)
      await until(`${queue} has caught up`, () => hasCaughtUp(cluster, queue), CATCHES_UP_WITHIN_MS);
    const startedAt = performance.now();
    const moving = cluster.move('default');
    const stoodStillMs = await longestCall(producer, moving);
    const tookMs = performance.now() - startedAt;
    say(
      `move ${move} of ${MOVES}: the queue stood still for ${stoodStillMs.toFixed(0)} ms; the slot took ${tookMs.toFixed(0)} ms, ` +
        `its largest key held both servers for ${(await moving).toFixed(0)} ms`,
    );
    await cluster.move('kept');
  }
  await cluster.audit();
  await cancelWaiting(producer, history);
  await app.close();
}

Logger.overrideLogger(['error', 'warn']);
const { violations, figures, directory } = await play({
  seed: Number(values.seed),
  say,
  // They take whole processes away, for longer than a slot moves.
  without: ['poison', 'blocking'],
  start: (history) => ClusterUnderTest.start(history),
  disturb: (_members, cluster, history) => moveBackAndForth(cluster, history),
});
say(tell(figures));
say(
  violations.length === 0
    ? 'no violation'
    : `${violations.length} VIOLATIONS, ${directory}\n${tellViolations(violations)}`,
);
process.exitCode = violations.length === 0 ? 0 : 1;

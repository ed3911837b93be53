import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type RedisScheduledQueueModuleOptions } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

const circle: Record<string, unknown> = {};
circle.self = circle;

const RESULTS: Record<string, () => unknown> = {
  bigint: () => 7n,
  circle: () => circle,
  function: () => () => 'secret',
  symbol: () => Symbol('secret'),
  throwing: () => ({
    toJSON() {
      throw new Error('not\nso');
    },
  }),
  large: () => 'é'.repeat(60),
  fitting: () => 'é'.repeat(49),
  nothing: () => undefined,
  nil: () => null,
};

@Injectable()
class Handlers {
  @OnScheduledJob('a')
  @OnScheduledJob('b')
  work(kind: string): unknown {
    return RESULTS[kind]!();
  }
}

async function start(options: RedisScheduledQueueModuleOptions = {}) {
  const log = new LogLines();
  const queues = { default: { keepCompleted: 10 } };
  const app = await startApp([Handlers], { queues, maxPayloadBytes: 100, ...options }, { log });
  const completed: string[] = [];
  app.events.events$.subscribe(({ type, id }) => type === 'completed' && completed.push(id));
  const run = async (job: string, kind: string) => {
    const told = completed.length;
    const ref = await app.producer.schedule(job, kind, { id: `${job}/${kind}` });
    await until('its end is told', () => completed.length > told);
    return (await app.inspector.job(ref))!;
  };
  return { ...app, log, run };
}

it.each([
  ['bigint', 'JSON cannot hold it (Do not know how to serialize a BigInt)'],
  ['circle', 'JSON cannot hold it (Converting circular structure to JSON)'],
  ['function', 'JSON cannot hold a function'],
  ['symbol', 'JSON cannot hold a symbol'],
  ['throwing', 'JSON cannot hold it (not)'],
  ['large', 'it has 122 bytes, and maxPayloadBytes is 100'],
])(
  'a result that cannot be kept does not keep the job from completing, and the log says why: %s',
  async (kind, why) => {
    const { log, run } = await start();
    const job = await run('a', kind);
    expect(job).toMatchObject({ state: 'completed', failures: [], result: undefined });
    expect(log.lines).toEqual([
      `warn Job 'a' (a/${kind}) of queue 'default' completed, but its result cannot be kept: ${why}. Let its handler return what JSON can hold, or nothing. This is said once for each job name.`,
    ]);
  },
);

it('a result that fits, none, and null are kept without a word', async () => {
  const { log, run } = await start();
  expect((await run('a', 'fitting')).result).toBe('é'.repeat(49));
  expect((await run('a', 'nothing')).result).toBeUndefined();
  expect((await run('a', 'nil')).result).toBeNull();
  expect(log.lines).toEqual([]);
});

it('a handler whose results cannot be kept is told of once, and each other one too', async () => {
  const { log, run } = await start();
  await run('a', 'bigint');
  await run('a', 'large');
  await run('b', 'bigint');
  expect(log.lines.map((line) => line.slice(0, 12))).toEqual([`warn Job 'a'`, `warn Job 'b'`]);
});

it('where completed jobs are not kept nothing is made of results, and nothing is said', async () => {
  const { inspector, producer, log } = await start({ queues: {} });
  await producer.schedule('a', 'bigint');
  await producer.schedule('a', 'large');
  await until('they have completed', async () => (await inspector.stats()).completed === 2);
  expect(log.lines).toEqual([]);
});

it('the result of a popped job that cannot be kept is told as well', async () => {
  const log = new LogLines();
  const app = await startApp([], { queues: { default: { keepCompleted: 10 } } }, { log });
  await app.producer.schedule('popped', null, { id: 'p' });
  const [job] = await app.consumer.pop();
  expect(await job!.complete(7n)).toBe(true);
  expect(log.lines).toEqual([
    expect.stringContaining(`warn Job 'popped' (p) of queue 'default' completed, but its result`),
  ]);
});

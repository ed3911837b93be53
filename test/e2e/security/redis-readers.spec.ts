import { tracingChannel } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Redis } from 'ioredis';
import { defineScheduledJob, OnScheduledJob, type PayloadCodec, type ScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

// What docs/security.md says of people and programs that reach the Redis of a queue, or what goes to it.

class Refund {
  @IsInt() amount!: number;
}
const refund = defineScheduledJob('refund', { payload: Refund });

@Injectable()
class Handlers {
  readonly seen: unknown[] = [];

  @OnScheduledJob('work')
  async work(payload: unknown, job: ScheduledJob): Promise<string> {
    this.seen.push(payload);
    await job.progress('progress-in-clear');
    return 'result-in-clear';
  }

  @OnScheduledJob('fail', { maxAttempts: 1 })
  fail(): void {
    throw new Error('message-in-clear');
  }

  @OnScheduledJob(refund)
  refund(payload: Refund): void {
    this.seen.push(payload);
  }
}

/** Turns each letter into the one thirteen places on: enough to tell what a codec has written. */
const turned: PayloadCodec = {
  id: 'turned',
  encode: (payload) => turn(JSON.stringify(payload)),
  decode: (stored) => JSON.parse(turn(String(stored))),
};
const turn = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 84) % 26) + 97));

const QUEUES = { default: { keepCompleted: 10 } } as const;

let server: OwnRedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await startOwnServer('--slowlog-log-slower-than', '0');
  admin = new Redis(server.url);
});
afterEach(stopApps);
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const start = (prefix: string, more: { codec?: PayloadCodec; autoStart?: boolean } = {}) =>
  startApp([Handlers], { connection: server.url, prefix, queues: QUEUES, ...more });

it('whoever may write there has every handler run with any payload, but for those that a payload class refuses', async () => {
  const { prefix, inspector, get } = await start(newPrefix(), { codec: turned });
  const { producer } = await startApp([], { connection: server.url, prefix, role: 'producer' });
  await producer.schedule('work', 'from a stranger, as JSON');
  await until('it has run', () => get(Handlers).seen.includes('from a stranger, as JSON'));
  await producer.schedule('refund', { amount: 'all' }, { id: 'r' });
  await until('it is dead', async () => (await inspector.counts()).dead === 1);
  expect(await inspector.job('r')).toMatchObject({ reason: 'invalid-payload' });
  expect(get(Handlers).seen).toHaveLength(1);
});

it('and forges what became of a job', async () => {
  const { prefix, producer, inspector } = await start(newPrefix());
  const ref = await producer.schedule('work', 1);
  await until('it has run', async () => (await inspector.counts()).completed === 1);
  const results = `${prefix}:{default}:results`;
  const kept = (await admin.hget(results, ref.id))!;
  await admin.hset(results, ref.id, kept.replace('result-in-clear', 'forged'));
  expect(await inspector.job(ref)).toMatchObject({ state: 'completed', result: 'forged' });
});

it('whoever may read there reads all that a codec does not write', async () => {
  const { prefix, producer, inspector } = await start(newPrefix(), { codec: turned });
  const options = { headers: { h: 'header-in-clear' }, tags: ['tag-in-clear'] };
  await producer.schedule('work', 'payload-secret', { ...options, id: 'id-in-clear' });
  await producer.schedule('fail', 'payload-secret');
  await producer.schedule('work', 'payload-secret', { ...options, delay: '1h' });
  await until('both have ended', async () => {
    const { completed, dead } = await inspector.counts();
    return completed + dead === 2;
  });
  const stored = (await everythingOf(prefix)).join('\n');
  expect(stored).toContain(turn('payload-secret'));
  expect(stored).not.toContain('payload-secret');
  for (const what of ['id', 'header', 'tag', 'progress', 'result', 'message'])
    expect(stored).toContain(`${what}-in-clear`);
});

it('what Redis notes of slow calls, and a tracing agent that listens to ioredis, have payloads as they are stored', async () => {
  const heard: string[] = [];
  const channel = tracingChannel<string, { args?: unknown[] }>('ioredis:command');
  const handlers = { start: ({ args = [] }: { args?: unknown[] }) => void heard.push(args.join(' ')) };
  channel.subscribe(handlers as never);
  try {
    const codec = { autoStart: false, codec: turned };
    for (const more of [{ autoStart: false }, codec]) {
      const { producer } = await start(newPrefix(), more);
      await producer.schedule('work', more === codec ? 'hidden-secret' : 'payload-in-clear');
    }
  } finally {
    channel.unsubscribe(handlers as never);
  }
  const slow = JSON.stringify(await admin.slowlog('GET', '128'));
  for (const seen of [slow, heard.join('\n')]) {
    expect(seen).toContain('payload-in-clear');
    expect(seen).not.toContain('hidden-secret');
  }
});

/** All texts under a prefix. */
async function everythingOf(prefix: string): Promise<string[]> {
  const read = {
    hash: (key: string) => admin.hgetall(key),
    zset: (key: string) => admin.zrange(key, '0', '-1'),
    set: (key: string) => admin.smembers(key),
    string: (key: string) => admin.get(key),
    stream: (key: string) => admin.xrange(key, '-', '+'),
  };
  const keys = await admin.keys(`${prefix}:*`);
  return Promise.all(
    keys.map(async (key) => `${key} ${JSON.stringify(await read[(await admin.type(key)) as keyof typeof read](key))}`),
  );
}

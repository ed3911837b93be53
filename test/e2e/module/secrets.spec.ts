import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Redis } from 'ioredis';
import { defineScheduledJob, OnScheduledJob } from '../../../lib/index.js';
import { safeLog } from '../../../lib/nest/safe-log.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const SECRET = 'hunter2';
const FORGED = 'boom\n[Nest] 1  - ERROR [Auth] admin logged in\r\u001b[31mred\u0007\u2028\u202e';
const AS_ONE_LINE = String.raw`boom\n[Nest] 1  - ERROR [Auth] admin logged in\r\u001b[31mred\u0007\u2028\u202e`;

class Account {
  @IsInt() number!: number;
  password?: string;
}
const open = defineScheduledJob('open', { payload: Account, maxAttempts: 1 });

class Handlers {
  @OnScheduledJob('fail', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } })
  fail(): void {
    throw new Error('the mail server said no');
  }
  @OnScheduledJob('forge', { maxAttempts: 1 })
  forge(): void {
    throw new Error(FORGED);
  }
  @OnScheduledJob(open)
  open(_account: Account): void {}
}

const lines: string[] = [];
const note = (...parts: unknown[]) => void lines.push(parts.map(String).join(' '));
let app: QueueApp;

beforeEach(async () => {
  lines.length = 0;
  app = await startApp([Handlers], { autoStart: false });
  Logger.overrideLogger({ log: note, warn: note, error: note, debug: note, verbose: note });
});

afterEach(async () => {
  await stopApps();
  Logger.overrideLogger(false);
});

async function deadOf(count: number) {
  await app.consumer.start();
  await until('they are dead', async () => (await app.inspector.counts()).dead === count);
  return app.inspector.list('dead');
}

it('no payload stands in a log line, an error or the history of a failure, whatever became of its job', async () => {
  const { producer } = app;
  await producer.schedule('fail', { password: SECRET });
  const misfit = await producer.schedule(open, { number: 1, password: SECRET });
  const redis = new Redis(redisUrl());
  const jobs = `${app.prefix}:{default}:jobs`;
  await redis.hset(jobs, misfit.id, (await redis.hget(jobs, misfit.id))!.replace('"number":1', '"number":"one"'));
  redis.disconnect();
  const refused = [
    producer.schedule(open, { number: SECRET as never }),
    producer.schedule('fail', { password: SECRET, callback: () => {} }),
    producer.schedule('fail', { password: SECRET.repeat(200_000) }),
  ];
  for (const error of await Promise.all(
    refused.map((call) => call.then(String, (reason) => `${reason} ${reason.stack}`)),
  ))
    note('thrown:', error);
  for (const { failures, reason } of await deadOf(2)) note('kept:', reason, JSON.stringify(failures));
  expect(lines.filter((line) => line.includes('is dead')).length).toBe(2);
  expect(lines.filter((line) => line.includes('InvalidPayloadError')).length).toBeGreaterThan(0);
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
});

it('nor does a piece of one that is no JSON any more', async () => {
  const ref = await app.producer.schedule('fail', null);
  const redis = new Redis(redisUrl());
  await redis.hset(`${app.prefix}:{default}:jobs`, ref.id, `5::fail\n1700000000000 \n\n${SECRET}`);
  redis.disconnect();
  for (const { failures } of await deadOf(1)) note('kept:', JSON.stringify(failures));
  expect(lines.filter((line) => line.includes(SECRET))).toEqual([]);
});

it('an error message that holds line breaks and colours is one line of the log, and of the kept failure', async () => {
  await app.producer.schedule('forge', 1);
  for (const { failures } of await deadOf(1)) {
    expect(failures[0]!.message).toBe(AS_ONE_LINE);
    const [first, ...places] = failures[0]!.stack!.split('\n');
    expect(first).toBe(`Error: ${AS_ONE_LINE}`);
    for (const place of places) expect(place).toMatch(/^ {4}at /);
  }
  const dead = lines.filter((line) => line.includes('is dead'));
  expect(dead).toEqual([expect.stringContaining(AS_ONE_LINE)]);
});

it('so is every line that the module logs, whatever it quotes', () => {
  const log = safeLog('ScheduledQueue');
  for (const level of ['log', 'warn', 'error'] as const) log[level](`quoted: ${FORGED}`);
  expect(lines).toEqual(Array(3).fill(expect.stringContaining(`quoted: ${AS_ONE_LINE} `)));
});

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsEmail } from 'class-validator';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidOptionsError,
  JobOutcome,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { ScheduledQueueTracingModule } from '../../../lib/opentelemetry/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { idOf, parentOf, Spans, shown } from '../../support/spans.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

const spans = new Spans();

beforeAll(() => spans.register());
afterEach(async () => {
  for (const letGo of held.splice(0)) letGo();
  await stopApps();
  const open = [...spans.open.values()];
  spans.reset();
  expect(open).toEqual([]);
});
afterAll(() => spans.unregister());

class Mail {
  @IsEmail()
  to!: string;
}
const sendMail = defineScheduledJob('mail', { payload: Mail });

/** What lets the handlers return that ignore their signal. */
const held: (() => void)[] = [];

@Injectable()
class Handlers {
  @OnScheduledJob('end')
  end(how: string) {
    if (how === 'snooze') return JobOutcome.snooze('1h');
    if (how === 'discard') return JobOutcome.discard('no longer wanted');
    if (how === 'deadLetter') return JobOutcome.deadLetter('account closed');
    if (how === 'returned error') return new Error('returned');
    if (how === 'string') throw 'text';
    if (how === 'unrecoverable') throw new UnrecoverableJobError('for ever');
    if (how === 'foreign') throw new InvalidOptionsError('of another job', { jobId: 'another' });
    throw new RangeError('failed');
  }

  @OnScheduledJob(sendMail)
  mail(_mail: Mail) {}

  @OnScheduledJob('stubborn', { maxAttempts: 1 })
  async stubborn() {
    await new Promise<void>((resolve) => held.push(resolve));
  }
}

async function start(options: RedisScheduledQueueModuleOptions = {}) {
  return await startApp([Handlers], options, { imports: [ScheduledQueueTracingModule.forRoot()] });
}

const ending = (span: Parameters<typeof shown>[0]) => {
  const { status, exceptions, attributes } = shown(span);
  return { status, exceptions, type: attributes['error.type'], message: span.status.message };
};
const FINE = { status: 'UNSET', exceptions: [], type: undefined, message: undefined };

it.each([
  ['snooze', FINE],
  ['discard', FINE],
  ['returned error', FINE],
  ['deadLetter', { status: 'ERROR', exceptions: [], type: 'dead-lettered', message: 'account closed' }],
  ['string', { status: 'ERROR', exceptions: [['_OTHER', 'text']], type: '_OTHER', message: 'text' }],
  ['throw', { status: 'ERROR', exceptions: [['RangeError', 'failed']], type: 'RangeError', message: 'failed' }],
  [
    'unrecoverable',
    {
      status: 'ERROR',
      exceptions: [['UnrecoverableJobError', 'for ever']],
      type: 'UnrecoverableJobError',
      message: 'for ever',
    },
  ],
])('a run that ends by %s', async (how, expected) => {
  const { producer } = await start();
  await producer.schedule('end', how);
  expect(ending(await spans.one('process default'))).toEqual(expected);
});

it('the span of a run keeps the id of its job, whatever job its error is about', async () => {
  const { producer } = await start();
  await producer.schedule('end', 'foreign', { id: 'own' });
  expect((await spans.one('process default')).attributes['messaging.message.id']).toBe('own');
});

it('an invalid payload is an error that shows no value of it, and the handler is not called', async () => {
  const { producer } = await start();
  await producer.schedule('mail', { to: 'secret-value' });
  const process = await spans.one('process default');
  expect(ending(process)).toMatchObject({ status: 'ERROR', type: 'InvalidPayloadError' });
  expect(JSON.stringify([process.attributes, process.events, process.status])).not.toContain('secret-value');
});

it('a run that takes too long ends its span with its time, though its handler goes on', async () => {
  const { producer } = await start();
  await producer.schedule('stubborn', null, { timeoutMs: 50 });
  const process = await spans.one('process default');
  expect(ending(process)).toMatchObject({ status: 'ERROR', type: 'JobTimeoutError' });
  expect(held).toHaveLength(1);
});

it('a cancelled run has not failed', async () => {
  const { producer, inspector } = await start();
  const job = await producer.schedule('stubborn', null);
  await until('it runs', () => held.length > 0);
  await inspector.cancelRunning(job);
  expect(ending(await spans.one('process default'))).toEqual(FINE);
});

it('a run whose lease is lost has failed', async () => {
  const { producer, prefix } = await start({ queues: { default: { leaseMs: 1_000 } } });
  const job = await producer.schedule('stubborn', null);
  await until('it runs', () => held.length > 0);
  const redis = new Redis(redisUrl());
  // As if another worker held the job by now.
  await redis.hset(`${prefix}:{default}:claims`, job.id, `99 2 1 ${job.dueAt!.getTime()} other 5::stubborn`);
  expect(ending(await spans.one('process default'))).toMatchObject({ status: 'ERROR', type: 'LeaseLostError' });
  redis.disconnect();
});

it('a run that goes back at shutdown has not failed, though its handler never returns', async () => {
  const { app, producer } = await start({ shutdownTimeoutMs: 0 });
  await producer.schedule('stubborn', null);
  await until('it runs', () => held.length > 0);
  await app.close();
  expect(ending(await spans.one('process default'))).toEqual(FINE);
});

it('a run that goes back while its payload is decoded ends its span', async () => {
  const prefix = newPrefix();
  const codec = { id: 'slow', encode: (payload: unknown) => JSON.stringify(payload), decode };
  let isDecoding = false;
  function decode(stored: unknown) {
    isDecoding = true;
    return new Promise((resolve) => held.push(() => resolve(JSON.parse(stored as string))));
  }
  const { app, producer } = await start({ codec, prefix, shutdownTimeoutMs: 0 });
  await producer.schedule('end', 'throw');
  await until('its payload is decoded', () => isDecoding);
  await app.close();
  expect(ending(await spans.one('process default'))).toEqual(FINE);
});

it('a call that Redis does not answer fails its span, which names the job that may exist', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  const { producer } = await start({ connection: proxy.url, commandTimeoutMs: 1_500, role: 'producer' });
  await producer.schedule('end', 'discard');
  proxy.blackhole();
  proxy.swallowNew(true);
  const error = await producer.schedule('end', 'discard').catch((thrown) => thrown);
  const many = await producer
    .scheduleMany([
      { job: 'end', payload: 'discard' },
      { job: 'end', payload: 'discard' },
      { job: 'end', payload: 'discard', options: { queue: 'other' } },
    ])
    .catch((thrown) => thrown);
  const [, failed, ofMany] = spans.ended('send default');
  expect(ending(failed!)).toMatchObject({ status: 'ERROR', type: 'QueueUnavailableError', message: error.message });
  expect(failed!.attributes['messaging.message.id']).toBe(error.jobId);
  expect(many.name).toBe('QueueUnavailableError');
  for (const span of [ofMany!, ...spans.ended('send other')])
    expect(ending(span)).toMatchObject({ status: 'ERROR', type: 'QueueUnavailableError' });
  expect(ofMany!.attributes).not.toHaveProperty(['messaging.message.id']);
  expect(spans.ended('send other')[0]!.attributes['messaging.message.id']).toBe(many.jobIds[2]);
  await proxy.stop();
});

it('a job that goes back at shutdown is traced again when another process runs it', async () => {
  const prefix = newPrefix();
  const first = await start({ prefix, shutdownTimeoutMs: 0 });
  await first.producer.schedule('stubborn', null);
  await until('it runs', () => held.length > 0);
  await first.app.close();
  await start({ prefix });
  await until('it runs again', () => held.length > 1);
  held.splice(0).forEach((letGo) => {
    letGo();
  });
  const [send, runs] = [await spans.one('send default'), await spans.wait('process default', 2)];
  expect(runs.map(parentOf)).toEqual([idOf(send), idOf(send)]);
});

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type CallHandler, type ExecutionContext, Injectable, UseInterceptors } from '@nestjs/common';
import { context, createTraceState, propagation, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Redis } from 'ioredis';
import {
  currentScheduledJob,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  ScheduledJob,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { ScheduledQueueTracingModule, type ScheduledQueueTracingOptions } from '../../../lib/opentelemetry/index.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { idOf, parentOf, Spans, shown, startOf, traceOf } from '../../support/spans.js';
import { until } from '../../support/wait.js';

const spans = new Spans();
const tracer = trace.getTracer('test');

beforeAll(() => spans.register());
afterEach(async () => {
  await stopApps();
  const open = [...spans.open.values()];
  spans.reset();
  expect(open).toEqual([]);
});
afterAll(() => spans.unregister());

const COMMON = (operation: string, queue = 'default') => ({
  'messaging.system.name': 'scheduled_queue',
  'messaging.destination.name': queue,
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
});

/** A span that nobody here has made. */
const FOREIGN = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;

/** The span in which each handler has found itself, by what it was sent. */
let active: Map<string, string | undefined>;
/** What has travelled beside it. */
let baggage: (string | undefined)[];

/** The headers with which each job that hands them on has come. */
let handedOn: ScheduledJob['headers'][];

const note = (text: string) => active.set(text, trace.getActiveSpan()?.spanContext().spanId);

class SeesSpan {
  intercept(execution: ExecutionContext, next: CallHandler) {
    note(`interceptor of ${execution.getArgByIndex(0).text}`);
    return next.handle();
  }
}

@Injectable()
class Handlers {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob('work')
  @OnScheduledJob('work', { queue: 'other' })
  async work(payload: { text: string }) {
    note(payload.text);
    baggage.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value);
    await new Promise((resolve) => setImmediate(resolve));
    note(`${currentScheduledJob()!.name} after an await of ${payload.text}`);
  }

  @UseInterceptors(SeesSpan)
  @OnScheduledJob('intercepted')
  intercepted(payload: { text: string }) {
    note(payload.text);
  }

  @OnScheduledJob('again', { backoff: { type: 'fixed', delayMs: 0 } })
  again(_payload: object, job: ScheduledJob) {
    if (job.attempt === 1) throw new TypeError('not yet');
  }

  @OnScheduledJob('nested')
  async nested() {
    await new Promise((resolve) => setImmediate(resolve));
    await this.producer.dispatch('work', { text: 'nested' });
  }

  @OnScheduledJob('hand on')
  @OnScheduledJob('hand on many')
  @OnScheduledJob('end')
  async handOn([, next, ...rest]: string[], { name, headers }: ScheduledJob) {
    handedOn.push(headers);
    if (!next) return;
    const payload = [next, ...rest];
    const options = { headers: { ...headers, by: name } };
    if (name === 'hand on') await this.producer.dispatch(next, payload, { headers });
    else await this.producer.scheduleMany([{ job: next, payload, options }]);
  }
}

async function startTraced(options?: ScheduledQueueTracingOptions, more?: RedisScheduledQueueModuleOptions) {
  active = new Map();
  baggage = [];
  handedOn = [];
  const imports = [ScheduledQueueTracingModule.forRoot(options)];
  return await startApp([Handlers], more, { imports });
}

it('a run is a child of the span that scheduled its job, links to it, and is active in the handler', async () => {
  const { producer } = await startTraced();
  const { id } = await tracer.startActiveSpan('request', async (request) => {
    const job = await producer.schedule('work', { text: 'a' });
    request.end();
    return job;
  });
  const [request, send, process] = [
    await spans.one('request'),
    await spans.one('send default'),
    await spans.one('process default'),
  ];
  const ofJob = { 'messaging.message.id': id, 'scheduled_queue.job.name': 'work' };
  expect(shown(send)).toEqual({
    name: 'send default',
    kind: 'PRODUCER',
    attributes: { ...COMMON('send'), ...ofJob },
    links: [],
    status: 'UNSET',
    exceptions: [],
  });
  expect(parentOf(send)).toBe(idOf(request));
  expect(shown(process)).toEqual({
    name: 'process default',
    kind: 'CONSUMER',
    attributes: { ...COMMON('process'), ...ofJob, 'scheduled_queue.job.attempt': 1 },
    links: [idOf(send)],
    status: 'UNSET',
    exceptions: [],
  });
  expect([parentOf(process), traceOf(process)]).toEqual([idOf(send), traceOf(request)]);
  expect(active).toEqual(
    new Map([
      ['a', idOf(process)],
      ['work after an await of a', idOf(process)],
    ]),
  );
});

it('a job that was prepared in a request, or appended to a MULTI there, is run in the trace of that request', async () => {
  const { producer } = await startTraced();
  const redis = new Redis(redisUrl());
  const multi = redis.multi();
  const prepared = await tracer.startActiveSpan('request', async (request) => {
    await producer.in(multi).schedule('work', { text: 'appended' });
    const job = await producer.prepare('work', { text: 'prepared' });
    request.end();
    return job;
  });
  await multi.exec().finally(() => redis.disconnect());
  await producer.schedulePrepared(JSON.parse(JSON.stringify(prepared)));
  const processed = await spans.wait('process default', 2);
  const sent = await spans.wait('send default', 2);
  const trace = traceOf(await spans.one('request'));
  expect([...sent, ...processed].map(traceOf)).toEqual([trace, trace, trace, trace]);
  expect(processed.map(parentOf).sort()).toEqual(sent.map(idOf).sort());
});

it('a prepared job whose headers leave no room for the context is handed over without it', async () => {
  const { producer, inspector } = await startTraced();
  const headers = { long: 'x'.repeat(4_050) };
  const prepared = await producer.prepare('work', { text: 'a' }, { headers, delay: '1h' });
  await spans.one('send default');
  const { id } = await producer.schedulePrepared(prepared);
  expect((await inspector.job(id))!.headers).toEqual(headers);
});

it('Nest runs interceptors inside the span', async () => {
  const { producer } = await startTraced();
  await producer.schedule('intercepted', { text: 'b' });
  const process = await spans.one('process default');
  expect(active).toEqual(
    new Map([
      ['interceptor of b', idOf(process)],
      ['b', idOf(process)],
    ]),
  );
});

it('with linkAfterMs 0 a run begins a trace and links to the span that scheduled its job', async () => {
  const { producer } = await startTraced({ linkAfterMs: 0 });
  await producer.schedule('work', { text: 'a' });
  const [send, process] = [await spans.one('send default'), await spans.one('process default')];
  expect(parentOf(process)).toBeUndefined();
  expect(traceOf(process)).not.toBe(traceOf(send));
  expect(shown(process).links).toEqual([idOf(send)]);
});

it('a run that begins later than linkAfterMs after its job was scheduled begins a trace, one that begins sooner does not', async () => {
  const { producer } = await startTraced({ linkAfterMs: '1s' });
  await producer.schedule('work', { text: 'late' }, { delay: '1100ms', id: 'late' });
  await producer.schedule('work', { text: 'soon' }, { delay: '50ms', id: 'soon' });
  const processed = await spans.wait('process default', 2);
  const [late, soon] = ['late', 'soon'].map(
    (id) => processed.find((span) => span.attributes['messaging.message.id'] === id)!,
  );
  expect(parentOf(late!)).toBeUndefined();
  expect(parentOf(soon!)).toBe(shown(soon!).links[0]);
  expect(shown(late!).links).toHaveLength(1);
});

it('each attempt is a span of its own, and the failed one tells its error', async () => {
  const { producer } = await startTraced();
  await producer.schedule('again', {});
  const [first, second] = await spans.wait('process default', 2);
  const send = await spans.one('send default');
  expect(shown(first!)).toMatchObject({
    attributes: { 'scheduled_queue.job.attempt': 1, 'error.type': 'TypeError' },
    status: 'ERROR',
    exceptions: [['TypeError', 'not yet']],
    links: [idOf(send)],
  });
  expect(first!.status.message).toBe('not yet');
  expect(first!.events[0]!.attributes!['exception.stacktrace']).toContain('spans.spec.ts');
  expect(shown(second!)).toMatchObject({
    attributes: { 'scheduled_queue.job.attempt': 2 },
    status: 'UNSET',
    links: [idOf(send)],
  });
  expect([parentOf(first!), parentOf(second!)]).toEqual([idOf(send), idOf(send)]);
});

it('scheduleMany is one span for each queue, and each job carries that of its queue', async () => {
  const { producer } = await startTraced();
  const item = (queue: string, text: string, id?: string) => ({
    job: 'work',
    payload: { text },
    options: { queue, id },
  });
  await producer.scheduleMany([item('default', 'a'), item('other', 'b', 'single'), item('default', 'c')]);
  const [many, single] = [await spans.one('send default'), await spans.one('send other')];
  expect(shown(many).attributes).toEqual({ ...COMMON('send'), 'messaging.batch.message_count': 2 });
  const ofJob = { 'messaging.message.id': 'single', 'scheduled_queue.job.name': 'work' };
  expect(shown(single).attributes).toEqual({ ...COMMON('send', 'other'), ...ofJob });
  const processed = await spans.wait('process default', 2);
  expect(processed.map(parentOf)).toEqual([idOf(many), idOf(many)]);
  expect(parentOf(await spans.one('process other'))).toBe(idOf(single));
});

it('what a handler schedules is a child of its span', async () => {
  const { producer } = await startTraced();
  await producer.schedule('nested', {});
  const processed = await spans.wait('process default', 2);
  const [first, second] = spans.ended('send default');
  const outer = processed.find((span) => span.attributes['scheduled_queue.job.name'] === 'nested')!;
  const inner = processed.find((span) => span !== outer)!;
  expect([parentOf(outer), parentOf(second!), parentOf(inner)]).toEqual([idOf(first!), idOf(outer), idOf(second!)]);
});

it('a pop that got jobs is a span from its call on, which links to each span that scheduled one of them', async () => {
  const { producer, consumer } = await startTraced({}, { queues: { pulled: { leaseMs: 5_000 } } });
  expect(await consumer.pop({ queue: 'pulled' })).toEqual([]);
  const waiting = tracer.startActiveSpan('loop', async (loop) => {
    const jobs = await consumer.pop({ queue: 'pulled', count: 3, waitMs: '5s' });
    loop.end();
    return jobs;
  });
  const schedule = (text: string) => ({ job: 'work', payload: { text }, options: { queue: 'pulled' } });
  await producer.scheduleMany([schedule('a'), schedule('b')]);
  const jobs = await waiting;
  for (const job of jobs) await job.complete();
  const [receive] = spans.ended('receive pulled');
  expect(spans.ended('receive pulled')).toHaveLength(1);
  expect(shown(receive!)).toEqual({
    name: 'receive pulled',
    kind: 'CLIENT',
    attributes:
      jobs.length > 1
        ? { ...COMMON('receive', 'pulled'), 'messaging.batch.message_count': jobs.length }
        : {
            ...COMMON('receive', 'pulled'),
            'messaging.message.id': jobs[0]!.id,
            'scheduled_queue.job.name': 'work',
          },
    links: [idOf(await spans.one('send pulled'))],
    status: 'UNSET',
    exceptions: [],
  });
  expect(parentOf(receive!)).toBe(idOf(await spans.one('loop')));
  expect(startOf(receive!)).toBeLessThanOrEqual(startOf(await spans.one('send pulled')));
});

it('an occurrence begins a trace, also where the headers of its recurrence name a span', async () => {
  const { producer } = await startTraced();
  const options = { headers: { traceparent: FOREIGN } };
  await tracer.startActiveSpan('request', async (request) => {
    await producer.upsertRecurrence('once', 'work', { text: 'occurs' }, { everyMs: '1s', limit: 1 }, options);
    request.end();
  });
  const process = await spans.one('process default');
  expect([parentOf(process), shown(process).links]).toEqual([undefined, ['2'.repeat(16)]]);
  expect(traceOf(process)).not.toBe('1'.repeat(32));
  expect(spans.ended().map(({ name }) => name)).toEqual(['request', 'process default']);
});

it('a header that the call gives stays as it is, and the run follows it', async () => {
  const { producer, inspector } = await startTraced();
  const traceparent = FOREIGN;
  const { id } = await producer.schedule('work', { text: 'a' }, { headers: { traceparent, own: 'x' }, delay: '300ms' });
  expect((await inspector.job(id))!.headers).toEqual({ traceparent, own: 'x' });
  const process = await spans.one('process default');
  expect([traceOf(process), parentOf(process)]).toEqual(['1'.repeat(32), '2'.repeat(16)]);
});

it('a call with a traceparent of its own gets no tracestate of another trace, and the baggage all the same', async () => {
  const { producer, inspector } = await startTraced();
  const spanContext = { traceId: '3'.repeat(32), spanId: '4'.repeat(16), traceFlags: 1 };
  const active = trace.setSpanContext(context.active(), { ...spanContext, traceState: createTraceState('vendor=x') });
  const bag = propagation.createBaggage({ tenant: { value: 't1' } });
  const headersOf = async (headers?: Record<string, string>) => {
    const ref = await context.with(propagation.setBaggage(active, bag), () =>
      producer.schedule('work', { text: 'a' }, { headers, delay: '1h' }),
    );
    return (await inspector.job(ref))!.headers;
  };
  expect(await headersOf()).toMatchObject({ tracestate: 'vendor=x', baggage: 'tenant=t1' });
  expect(await headersOf({ traceparent: FOREIGN })).toEqual({ traceparent: FOREIGN, baggage: 'tenant=t1' });
  expect(await headersOf({ tracestate: 'own=y', baggage: 'b=c' })).toEqual({ tracestate: 'own=y', baggage: 'b=c' });
});

it('a handler that passes on the headers of its job passes on its own span, and none of the context counts', async () => {
  const { producer } = await startTraced();
  const bag = propagation.createBaggage({ tenant: { value: 'x'.repeat(2_000) } });
  const headers = { own: 'y'.repeat(3_000) };
  const names = ['hand on', 'hand on many', 'end'];
  await context.with(propagation.setBaggage(context.active(), bag), () =>
    producer.schedule('hand on', names, { headers }),
  );
  await until('all have run', () => handedOn.length === 3);
  const byName = (ended: ReadableSpan[]) =>
    new Map(ended.map((span) => [span.attributes['scheduled_queue.job.name'], span]));
  const runs = byName(await spans.wait('process default', 3));
  const sends = byName(spans.ended('send default'));
  let caller: ReadableSpan | undefined;
  for (const name of names) {
    expect(parentOf(sends.get(name)!)).toBe(caller && idOf(caller));
    caller = runs.get(name)!;
    expect(parentOf(caller)).toBe(idOf(sends.get(name)!));
  }
  expect(handedOn.map(({ own }) => own)).toEqual(names.map(() => headers.own));
});

it('baggage travels with the job, and beyond 4 KiB the context is left out; the headers of the call may still have 4 KiB', async () => {
  const { producer, inspector } = await startTraced();
  const scheduleWith = async (value: string, id: string, headers: Record<string, string> = {}) => {
    const bag = propagation.createBaggage({ tenant: { value } });
    await context.with(propagation.setBaggage(context.active(), bag), () =>
      producer.schedule('work', { text: id }, { id, delay: '300ms', headers }),
    );
    return (await inspector.job(id))!.headers;
  };
  const big = 'x'.repeat(4_000);
  expect(Object.keys(await scheduleWith('t1', 'small', { big })).sort()).toEqual(['baggage', 'big', 'traceparent']);
  // The propagator of the SDK itself gives up a value of more than 4 KiB.
  const entries = Object.fromEntries([1, 2].map((i) => [`k${i}`, { value: 'x'.repeat(2_100) }]));
  await context.with(propagation.setBaggage(context.active(), propagation.createBaggage(entries)), () =>
    producer.schedule('work', { text: 'large' }, { id: 'large', delay: '300ms' }),
  );
  expect((await inspector.job('large'))!.headers).toEqual({});
  await spans.wait('process default', 2);
  expect(baggage.sort()).toEqual(['t1', undefined]);
});

it('nothing is traced and nothing travels where the application suppresses tracing', async () => {
  const { producer, inspector } = await startTraced();
  const job = await context.with(suppressTracing(context.active()), () =>
    producer.schedule('work', { text: 'a' }, { delay: '300ms' }),
  );
  expect((await inspector.job(job))!.headers).toEqual({});
  const process = await spans.one('process default');
  expect([parentOf(process), shown(process).links]).toEqual([undefined, []]);
  expect(spans.ended('send default')).toEqual([]);
});

it('a refused call is no span', async () => {
  const { producer } = await startTraced();
  await expect(producer.schedule('work', { text: 'a' }, { at: 5 })).rejects.toThrow('seconds');
  expect(spans.ended()).toEqual([]);
});

it('OTEL_SEMCONV_STABILITY_OPT_IN with messaging/dup adds the old name of the system', async () => {
  process.env.OTEL_SEMCONV_STABILITY_OPT_IN = 'http, messaging/dup';
  try {
    const { producer } = await startTraced();
    await producer.schedule('work', { text: 'a' });
    for (const name of ['send default', 'process default'])
      expect((await spans.one(name)).attributes).toMatchObject({
        'messaging.system': 'scheduled_queue',
        'messaging.system.name': 'scheduled_queue',
      });
  } finally {
    delete process.env.OTEL_SEMCONV_STABILITY_OPT_IN;
  }
});

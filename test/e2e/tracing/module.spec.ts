import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { type Context, context, propagation, ROOT_CONTEXT, type TracerProvider, trace } from '@opentelemetry/api';
import {
  getScheduledQueueToken,
  InvalidOptionsError,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { ScheduledQueueTracingModule } from '../../../lib/opentelemetry/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { idOf, parentOf, Spans, shown } from '../../support/spans.js';
import { until } from '../../support/wait.js';

const spans = new Spans();

let ran: ScheduledJob[] = [];

beforeAll(() => Logger.overrideLogger(false));

@Injectable()
class Handlers {
  @OnScheduledJob('work')
  work(how: string, job: ScheduledJob) {
    ran.push(job);
    if (how === 'fail') throw new Error('failed');
  }
}

afterEach(async () => {
  await stopApps();
  ran = [];
});

describe('with an SDK', () => {
  beforeAll(() => spans.register());
  afterEach(() => spans.reset());
  afterAll(() => spans.unregister());

  it('each module traces the instance that it names, and no other', async () => {
    const connection = redisUrl();
    const named = (name: string) => RedisScheduledQueueModule.forRoot({ connection, name, prefix: newPrefix() });
    class Listener {
      @OnScheduledJob('work', { instance: 'reports', queue: 'a' })
      @OnScheduledJob('work', { instance: 'mails', queue: 'a' })
      work(_: unknown, job: ScheduledJob) {
        ran.push(job);
      }
    }
    const app = await Test.createTestingModule({
      imports: [named('reports'), named('mails'), ScheduledQueueTracingModule.forRoot({ instance: 'mails' })],
      providers: [Listener],
    }).compile();
    await app.init();
    for (const name of ['reports', 'mails'])
      await app
        .get<ScheduledQueueProducer>(getScheduledQueueToken(ScheduledQueueProducer, name))
        .schedule('work', null, { queue: 'a', id: name });
    await until('both have run', () => ran.length === 2);
    await app.close();
    const traced = spans.ended().map(({ name, attributes }) => `${name} ${attributes['messaging.message.id']}`);
    // The call may be answered after the run has ended.
    expect(traced.sort()).toEqual(['process a mails', 'send a mails']);
  });

  it('what a provider schedules when the application starts is traced', async () => {
    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly producer: ScheduledQueueProducer) {}
      async onModuleInit() {
        await this.producer.schedule('work', null);
      }
    }
    await startApp([Early, Handlers], {}, { imports: [ScheduledQueueTracingModule.forRoot()] });
    expect(parentOf(await spans.one('process default'))).toBe(idOf(await spans.one('send default')));
  });

  it('the test kit traces runs of advance, drain and run, by its own time', async () => {
    const app = await Test.createTestingModule({
      imports: [
        ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T00:00:00Z' }),
        ScheduledQueueTracingModule.forRoot({ linkAfterMs: '2m' }),
      ],
      providers: [Handlers],
    }).compile();
    await app.init();
    const [tester, producer] = [app.get(ScheduledQueueTester), app.get(ScheduledQueueProducer)];
    await producer.schedule('work', 'fail');
    await tester.drain();
    const send = await spans.one('send default');
    const [first] = spans.ended('process default');
    expect(shown(first!)).toMatchObject({ status: 'ERROR', links: [idOf(send)] });
    expect(parentOf(first!)).toBe(idOf(send));
    // Attempts after 60 s, and after 120 s more.
    await tester.advance('4m');
    expect(spans.ended('process default').map(parentOf)).toEqual([idOf(send), idOf(send), undefined]);
    await tester.run('work', 'fine');
    expect(shown(spans.ended('process default').at(-1)!)).toMatchObject({ status: 'UNSET', links: [] });
    spans.reset();
    tester.loseLeaseNext('work');
    await producer.schedule('work', 'fine');
    await tester.drain();
    expect(spans.ended('process default')[0]!.attributes['error.type']).toBe('LeaseLostError');
    tester.redisAway();
    await expect(producer.schedule('work', 'fine')).rejects.toThrow('redisAway');
    expect(spans.ended('send default').at(-1)!.attributes['error.type']).toBe('QueueUnavailableError');
    tester.redisAway(false);
    await app.close();
    expect([...spans.open.values()]).toEqual([]);
  });
});

describe('without an SDK', () => {
  it('everything runs as it does without the module, and no header is added', async () => {
    const { producer } = await startApp([Handlers], {}, { imports: [ScheduledQueueTracingModule.forRoot()] });
    await producer.schedule('work', null, { headers: { own: 'x' } });
    await until('it has run', () => ran.length === 1);
    expect(ran[0]!.headers).toEqual({ own: 'x' });
  });
});

it.each<[string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['answers a promise', async () => ROOT_CONTEXT],
  ['answers something else', () => ({})],
])('where the propagator %s instead of reading a context, a run begins a trace', async (_, extract) => {
  spans.register();
  propagation.disable();
  propagation.setGlobalPropagator({ inject() {}, extract: extract as () => Context, fields: () => [] });
  try {
    const { producer } = await startApp([Handlers], {}, { imports: [ScheduledQueueTracingModule.forRoot()] });
    await producer.schedule('work', 'a');
    const process = await spans.one('process default');
    expect([parentOf(process), shown(process).links]).toEqual([undefined, []]);
  } finally {
    spans.unregister();
  }
});

describe('an SDK that throws', () => {
  const broken = () => {
    throw new Error('broken');
  };
  const span = {
    spanContext: broken,
    setAttribute: broken,
    setStatus: broken,
    recordException: broken,
    isRecording: () => true,
    end: broken,
  };

  afterEach(() => {
    trace.disable();
    context.disable();
    propagation.disable();
  });

  it.each<[string, () => void]>([
    [
      'in its tracer',
      () => trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: broken }) } as unknown as TracerProvider),
    ],
    [
      'in its spans',
      () =>
        trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) } as unknown as TracerProvider),
    ],
    ['in its propagator', () => propagation.setGlobalPropagator({ inject: broken, extract: broken, fields: () => [] })],
    [
      'in its context manager, before the handler',
      () =>
        context.setGlobalContextManager({
          active: broken,
          with: broken,
          bind: broken as never,
          enable: broken,
          disable() {
            return this;
          },
        }),
    ],
    [
      'in its context manager, after the handler',
      () =>
        context.setGlobalContextManager({
          active: () => ROOT_CONTEXT,
          with(_: Context, work: (...given: never[]) => unknown, ...given: never[]) {
            work(...(given.slice(1) as never[]));
            return broken();
          },
          bind: broken as never,
          enable: broken,
          disable() {
            return this;
          },
        } as never),
    ],
  ])('%s: jobs are scheduled, popped and run all the same, once each', async (_, register) => {
    const { producer, consumer } = await startApp([Handlers], {}, { imports: [ScheduledQueueTracingModule.forRoot()] });
    register();
    await producer.schedule('work', 'a');
    await producer.scheduleMany([
      { job: 'work', payload: 'b' },
      { job: 'work', payload: 'c', options: { queue: 'popped' } },
    ]);
    const [popped] = await consumer.pop({ queue: 'popped', waitMs: '5s' });
    expect([popped!.payload, await popped!.complete()]).toEqual(['c', true]);
    await until('both have run', () => ran.length === 2);
    expect(ran.map(({ payload }) => payload).sort()).toEqual(['a', 'b']);
  });
});

describe('refuses', () => {
  it.each([
    [{ linkAfterMs: -1 }, 'linkAfterMs: got -1'],
    [{ linkAfterMs: '5' }, 'linkAfterMs: got "5"'],
    [{ instance: 'a b' }, 'instance: got "a b"'],
    [{ linkAfter: 5 }, "did you mean 'linkAfterMs'"],
    ['mails', 'expected an object of options'],
  ])('%j', (options, message) => {
    const call = () => ScheduledQueueTracingModule.forRoot(options as never);
    expect(call).toThrow(InvalidOptionsError);
    expect(call).toThrow(message);
  });

  async function starting(...imports: unknown[]): Promise<unknown> {
    const app = Test.createTestingModule({ imports: imports as never[] });
    return await app
      .compile()
      .then((module) => module.init())
      .catch((error) => error);
  }
  const queue = (name?: string) =>
    RedisScheduledQueueModule.forRoot({ connection: redisUrl(), name, autoStart: false });

  it.each<[string, unknown[], string]>([
    [
      'an unknown instance',
      [queue('mails'), ScheduledQueueTracingModule.forRoot({ instance: 'mail' })],
      "instance: got 'mail', which no RedisScheduledQueueModule of this application is named. There is: 'mails'. Did you mean 'mails'?",
    ],
    [
      'no instance where all have names',
      [queue('mails'), ScheduledQueueTracingModule.forRoot()],
      'Say which one is traced',
    ],
    [
      'two modules for one instance',
      [queue(), ScheduledQueueTracingModule.forRoot(), ScheduledQueueTracingModule.forRoot({ linkAfterMs: 0 })],
      'which another ScheduledQueueTracingModule of this application traces already',
    ],
    ['the bare class', [queue(), ScheduledQueueTracingModule], 'expected ScheduledQueueTracingModule.forRoot()'],
    ['an application without the queue', [ScheduledQueueTracingModule.forRoot()], 'no RedisScheduledQueueModule'],
  ])('%s', async (_, imports, message) => {
    const error = await starting(...imports);
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect((error as Error).message).toContain(message);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  getScheduledQueueToken,
  InjectScheduledQueue,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import {
  overrideScheduledQueue,
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
} from '../../../lib/testing/index.js';
import { START } from '../../support/tested-app.js';

// The kit in the place of the real module.

const SILENT = { log() {}, warn() {}, error() {} };
const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((app) => app.close()));
});

@Injectable()
class Handlers {
  readonly seen: string[] = [];

  constructor(
    readonly producer: ScheduledQueueProducer,
    @InjectScheduledQueue(ScheduledQueueProducer, 'reports') readonly reports: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('one')
  one() {
    this.seen.push('one');
  }

  @OnScheduledJob('two', { instance: 'reports' })
  two() {
    this.seen.push('two');
  }
}

async function start(builder: TestingModuleBuilder) {
  const app = await builder.setLogger(SILENT).compile();
  await app.init();
  closing.push(app);
  return { app, tester: app.get(ScheduledQueueTester), handlers: app.get(Handlers) };
}

async function runBoth({ tester, handlers }: Awaited<ReturnType<typeof start>>) {
  await handlers.producer.schedule('one', null, { delay: '1h' });
  await handlers.reports.schedule('two', null, { delay: '2h' });
  expect(tester.scheduled().map(({ name }) => name)).toEqual(['one', 'two']);
  await tester.advance('3h');
  expect(handlers.seen).toEqual(['one', 'two']);
  expect(tester.runs().map(({ startedAt }) => startedAt.getTime() - START)).toEqual([3_600_000, 7_200_000]);
}

describe('overrideScheduledQueue', () => {
  let factoryRuns = 0;

  @Module({
    imports: [
      RedisScheduledQueueModule.forRootAsync({
        useFactory: () => {
          factoryRuns++;
          return { connection: undefined, prefix: 'x', queues: { default: { concurrency: 3 } } };
        },
      }),
      RedisScheduledQueueModule.forRoot({ name: 'reports', connection: 'redis://127.0.0.1:1' }),
    ],
    providers: [Handlers],
  })
  class AppModule {}

  it('answers the builder, and serves every instance: factories run, connections are neither used nor checked', async () => {
    const builder = Test.createTestingModule({ imports: [AppModule] });
    expect(overrideScheduledQueue(builder, { now: START })).toBe(builder);
    const started = await start(builder);
    expect(factoryRuns).toBe(1);
    await runBoth(started);
  });

  it('checks all other options as the real module does', async () => {
    const builder = Test.createTestingModule({
      imports: [RedisScheduledQueueModule.forRoot({ shutdownTimeoutMs: -1 })],
    });
    await expect(overrideScheduledQueue(builder).setLogger(SILENT).compile()).rejects.toThrow(
      'RedisScheduledQueueModule: shutdownTimeoutMs: got -1',
    );
  });

  it('two applications share nothing', async () => {
    const [a, b] = await Promise.all(
      [0, 1].map(() =>
        start(overrideScheduledQueue(Test.createTestingModule({ imports: [AppModule] }), { now: START })),
      ),
    );
    await a!.handlers.producer.schedule('one', null);
    await a!.tester.advance('1h');
    expect(b!.tester.now().getTime()).toBe(START);
    expect(b!.tester.runs()).toEqual([]);
  });
});

describe('ScheduledQueueTestingModule', () => {
  const imports = [
    ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z', prefix: 'x' }),
    ScheduledQueueTestingModule.forRoot({ name: 'reports' }),
  ];

  it('takes every option but those of the connection, and a name', async () => {
    await runBoth(await start(Test.createTestingModule({ imports, providers: [Handlers] })));
    for (const option of ['connection', 'minReplicas'])
      expect(() => ScheduledQueueTestingModule.forRoot({ [option]: 1 } as never)).toThrow(
        `ScheduledQueueTestingModule.forRoot: unknown option "${option}": jobs lie in memory. Leave it out.`,
      );
  });

  it('all instances share one time, so two cannot begin at different ones', async () => {
    const other = ScheduledQueueTestingModule.forRoot({ name: 'other', now: START + 1 });
    await expect(
      Test.createTestingModule({ imports: [...imports, other] })
        .setLogger(SILENT)
        .compile(),
    ).rejects.toThrow('all instances of an application share one time');
  });

  it('refuses a time that is none', () => {
    expect(() => ScheduledQueueTestingModule.forRoot({ now: 'tomorrow' })).toThrow(
      'ScheduledQueueTestingModule.forRoot: now: got "tomorrow", expected a Date',
    );
  });

  it('exports the services under their tokens', async () => {
    const { app } = await start(Test.createTestingModule({ imports, providers: [Handlers] }));
    const token = getScheduledQueueToken(ScheduledQueueProducer, 'reports');
    expect(app.get(token, { strict: false })).toBeInstanceOf(ScheduledQueueProducer);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  getScheduledQueueToken,
  InjectScheduledQueue,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import type { ModuleSettings } from '../../../lib/nest/module-options.js';
import { SETTINGS } from '../../../lib/nest/tokens.js';
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

  it('lays options over those of the application in every instance: queues and jobs name by name, and there option by option', async () => {
    const own = {
      queues: { default: { concurrency: 3, rateLimit: { max: 1, perMs: '1h' } }, mail: { concurrency: 2 } },
      jobs: { one: { maxAttempts: 7, timeoutMs: 5_000 } },
      maxPayloadBytes: 10,
    } as const;
    @Module({
      imports: [
        RedisScheduledQueueModule.forRootAsync({ useFactory: () => own }),
        RedisScheduledQueueModule.forRoot({ ...own, name: 'reports' }),
      ],
      providers: [Handlers],
    })
    class OwnModule {}
    const builder = overrideScheduledQueue(Test.createTestingModule({ imports: [OwnModule] }), {
      now: START,
      maxPayloadBytes: undefined,
      queues: { default: { rateLimit: undefined, leaseMs: '1m' }, other: { concurrency: 9 } },
      jobs: { one: { maxAttempts: 2 } },
    });
    const { app } = await start(builder);
    const all: ModuleSettings[] = [];
    for (const module of app.get(ModulesContainer).values())
      for (const [token, { instance }] of module.providers)
        if (token === SETTINGS) all.push(instance as ModuleSettings);
    expect(all).toHaveLength(2);
    for (const settings of all) {
      expect(settings.settingsOf('default')).toMatchObject({ concurrency: 3, leaseMs: 60_000 });
      expect(settings.settingsOf('default').rateLimit).toBeUndefined();
      expect(settings.settingsOf('mail').concurrency).toBe(2);
      expect(settings.settingsOf('other').concurrency).toBe(9);
      expect(settings.jobs.get('one')).toMatchObject({ maxAttempts: 2, timeoutMs: 5_000 });
      expect(settings.maxPayloadBytes).toBe(1024 * 1024);
    }
  });

  it('refuses an option that is none at once', () => {
    const builder = () => Test.createTestingModule({ imports: [AppModule] });
    expect(() => overrideScheduledQueue(builder(), { shutdownTimoutMs: 1 } as never)).toThrow(
      /^overrideScheduledQueue: unknown option "shutdownTimoutMs", did you mean 'shutdownTimeoutMs'\?/,
    );
    expect(() => overrideScheduledQueue(builder(), { connection: 'redis://x' } as never)).toThrow(
      'overrideScheduledQueue: unknown option "connection": jobs lie in memory. Leave it out.',
    );
    expect(() => overrideScheduledQueue(builder(), 'now' as never)).toThrow(
      'overrideScheduledQueue: got "now", expected an object of options.',
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

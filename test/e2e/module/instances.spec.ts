import { afterEach, expect, it } from '@jest/globals';
import { Injectable, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  getScheduledQueueToken,
  InjectScheduledQueue,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueConsumer,
  ScheduledQueueEvents,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Reports {
  readonly runs: string[] = [];

  constructor(
    readonly plain: ScheduledQueueProducer,
    @InjectScheduledQueue(ScheduledQueueProducer) readonly unnamed: ScheduledQueueProducer,
    @InjectScheduledQueue(ScheduledQueueProducer, 'reports') readonly reports: ScheduledQueueProducer,
    @InjectScheduledQueue(ScheduledQueueProducer, 'audit') readonly audit: ScheduledQueueProducer,
  ) {}

  @OnScheduledJob('make')
  here(_: unknown, job: ScheduledJob): void {
    this.runs.push(`default ${job.id}`);
  }

  @OnScheduledJob('make', { instance: 'reports' })
  there(_: unknown, job: ScheduledJob): void {
    this.runs.push(`reports ${job.id}`);
  }
}

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

async function start() {
  const options = { connection: redisUrl(), role: 'both' as const };
  const prefixes = { default: newPrefix(), reports: newPrefix(), audit: newPrefix() };
  const module = await Test.createTestingModule({
    imports: [
      RedisScheduledQueueModule.forRoot({ ...options, prefix: prefixes.default }),
      RedisScheduledQueueModule.forRoot({ ...options, prefix: prefixes.reports, name: 'reports' }),
      RedisScheduledQueueModule.forRootAsync({
        name: 'audit',
        useFactory: () => ({ ...options, prefix: prefixes.audit }),
      }),
    ],
    providers: [Reports],
  }).compile();
  await module.init();
  close = () => module.close();
  return module;
}

it('each service of a named instance is found by its token, and is not that of another', async () => {
  const module = await start();
  for (const service of [
    ScheduledQueueProducer,
    ScheduledQueueConsumer,
    ScheduledQueueInspector,
    ScheduledQueueEvents,
  ]) {
    const found = ['default', 'reports', 'audit'].map((name) =>
      module.get(getScheduledQueueToken(service as Type, name)),
    );
    for (const one of found) expect(one).toBeInstanceOf(service);
    expect(new Set(found).size).toBe(3);
    expect(found[0]).toBe(module.get(service as Type));
  }
  const { plain, unnamed, reports, audit } = module.get(Reports);
  expect(plain).toBe(module.get(ScheduledQueueProducer));
  expect(unnamed).toBe(plain);
  expect(reports).toBe(module.get(getScheduledQueueToken(ScheduledQueueProducer, 'reports')));
  expect(audit).toBe(module.get(getScheduledQueueToken(ScheduledQueueProducer, 'audit')));
});

it('a job runs in the handler of the instance that it was scheduled with, and in no other', async () => {
  const module = await start();
  const { plain, reports, audit, runs } = module.get(Reports);
  const inspectorOf = (name?: string) =>
    module.get<ScheduledQueueInspector>(getScheduledQueueToken(ScheduledQueueInspector, name));
  await audit.schedule('make', null, { id: 'a' });
  await plain.schedule('make', null, { id: 'd' });
  await reports.schedule('make', null, { id: 'r' });
  await until('both are handled', () => runs.length >= 2);
  expect(runs.sort()).toEqual(['default d', 'reports r']);
  expect(await inspectorOf('audit').counts()).toMatchObject({ due: 1, active: 0 });
  await until('both are settled', async () => {
    const settled = await Promise.all([inspectorOf().stats(), inspectorOf('reports').stats()]);
    return settled.every(({ completed }) => completed === 1);
  });
  expect(await inspectorOf('audit').stats()).toMatchObject({ scheduled: 1, started: 0, completed: 0 });
});

it('events of one instance are not told by another', async () => {
  const module = await start();
  const { plain, reports } = module.get(Reports);
  const told: string[] = [];
  for (const name of ['default', 'reports']) {
    const { events$ } = module.get<ScheduledQueueEvents>(getScheduledQueueToken(ScheduledQueueEvents, name));
    events$.subscribe(({ type, id }) => told.push(`${name} ${type} ${id}`));
  }
  await plain.schedule('make', null, { id: 'd' });
  await reports.schedule('make', null, { id: 'r' });
  await until('both have completed', () => told.filter((line) => line.includes('completed')).length === 2);
  expect(told.filter((line) => line.startsWith('default')).every((line) => line.endsWith(' d'))).toBe(true);
  expect(told.filter((line) => line.startsWith('reports')).every((line) => line.endsWith(' r'))).toBe(true);
});

import type { INestApplicationContext, LoggerService, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ScheduledQueueConsumer, ScheduledQueueInspector, ScheduledQueueProducer } from '../../lib/index.js';
import {
  ScheduledQueueTester,
  ScheduledQueueTestingModule,
  type ScheduledQueueTestingModuleOptions,
} from '../../lib/testing/index.js';

export const START = Date.UTC(2027, 0, 1, 9);
const SILENT: LoggerService = { log() {}, warn() {}, error() {} };

export interface TestedApp {
  app: INestApplicationContext;
  tester: ScheduledQueueTester;
  producer: ScheduledQueueProducer;
  consumer: ScheduledQueueConsumer;
  inspector: ScheduledQueueInspector;
}

const started: INestApplicationContext[] = [];

/** An application of these providers on the test kit, at 9:00 of 1 January 2027; `stopTestedApps` closes it after the test. */
export async function testedApp(
  providers: Provider[] = [],
  options: ScheduledQueueTestingModuleOptions = {},
  logger: LoggerService = SILENT,
): Promise<TestedApp> {
  const module = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ now: START, ...options })],
    providers,
  })
    .setLogger(logger)
    .compile();
  await module.init();
  started.push(module);
  return servicesOf(module);
}

export function servicesOf(app: INestApplicationContext): TestedApp {
  return {
    app,
    tester: app.get(ScheduledQueueTester),
    producer: app.get(ScheduledQueueProducer),
    consumer: app.get(ScheduledQueueConsumer),
    inspector: app.get(ScheduledQueueInspector),
  };
}

export async function stopTestedApps(): Promise<void> {
  await Promise.all(started.splice(0).map((app) => app.close()));
}

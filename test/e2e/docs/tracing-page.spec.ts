import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { type INestApplicationContext, Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { context, propagation, trace } from '@opentelemetry/api';
import { OnScheduledJob, ScheduledQueueProducer } from '../../../lib/index.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';

// The module of the page reads the environment when it is imported, so it is imported by the test.

const page = readFileSync('docs/tracing.md', 'utf8');
let server: OwnRedisServer;
let app: INestApplicationContext | undefined;

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await startOwnServer();
  process.env.REDIS_URL = server.url;
});
afterEach(async () => {
  await app?.close();
});
afterAll(async () => {
  delete process.env.REDIS_URL;
  trace.disable();
  context.disable();
  propagation.disable();
  await server.stop();
});

it('the set-up that the page prints prints a trace from the call to the run, at the end of the process too', async () => {
  const { TracedQueueModule } = await import('./tracing/tracing.module.js');
  const printed: { name: string; traceId: string; parentSpanContext?: { spanId: string }; id: string }[] = [];
  jest.spyOn(console, 'dir').mockImplementation((span) => void printed.push(span as never));
  let run: () => void;
  const ran = new Promise<void>((resolve) => {
    run = resolve;
  });
  @Injectable()
  class Mails {
    @OnScheduledJob('mail.send')
    send() {
      run();
    }
  }
  @Module({ imports: [TracedQueueModule], providers: [Mails] })
  class AppModule {}
  app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await app.get(ScheduledQueueProducer).schedule('mail.send', {});
  await ran;
  await app.close();
  // The call may be answered after the run has ended.
  const [process, send] = printed.sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(printed.map(({ name }) => name)).toEqual(['process default', 'send default']);
  expect([process!.traceId, process!.parentSpanContext!.spanId]).toEqual([send!.traceId, send!.id]);
});

it('the page has a row for each attribute that a span may have', () => {
  const source = readFileSync('lib/opentelemetry/attributes.ts', 'utf8');
  const names = new Set(
    [...source.matchAll(/'((?:messaging|scheduled_queue|error)\.[\w.]+)'/g)].map(([, name]) => name!),
  );
  const rows = [...page.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name]) => name!);
  expect(rows.filter((name) => name.includes('.')).sort()).toEqual([...names].sort());
});

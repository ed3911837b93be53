import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { Redis } from 'ioredis';
import { OnScheduledJob, OnScheduledJobEvent, ScheduledJob, ScheduledQueueProducer } from '../../../lib/index.js';
import { ScheduledQueueTracingModule } from '../../../lib/opentelemetry/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { Spans } from '../../support/spans.js';
import { until } from '../../support/wait.js';

const spans = new Spans();
const tracer = trace.getTracer('test');
/** The commands that were sent inside of a span, as an instrumentation of ioredis would take them for the span's own. */
let inside: string[];
let sent: number;

beforeAll(() => spans.register());
beforeEach(() => {
  inside = [];
  sent = 0;
  const { sendCommand } = Redis.prototype;
  jest.spyOn(Redis.prototype, 'sendCommand').mockImplementation(function (this: Redis, command, stream) {
    sent++;
    if (trace.getActiveSpan()) inside.push(command.name);
    return sendCommand.call(this, command, stream);
  });
});
afterEach(async () => {
  await stopApps();
  jest.restoreAllMocks();
  spans.reset();
});
afterAll(() => spans.unregister());

@Injectable()
class Handlers {
  readonly ran: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob('first')
  async first(_: unknown, job: ScheduledJob) {
    job.progress('half');
    await job.heartbeat();
    await this.producer.schedule('second', null, { delay: 50 });
    this.ran.push('first');
  }

  @OnScheduledJob('second')
  second() {
    this.ran.push('second');
  }

  @OnScheduledJobEvent('completed')
  heard({ name }: { name: string }) {
    this.ran.push(`completed ${name}${trace.getActiveSpan() ? ' in a span' : ''}`);
  }
}

it('what the library sends for many, and whom it tells, is outside of the span in which a call was made', async () => {
  const imports = [ScheduledQueueTracingModule.forRoot()];
  const { producer, consumer, get } = await startApp([Handlers], {}, { imports });
  await tracer.startActiveSpan('request', async (request) => {
    await producer.schedule('first', null);
    await producer.scheduleMany([{ job: 'popped', payload: null, options: { queue: 'popped' } }]);
    const [job] = await consumer.pop({ queue: 'popped', waitMs: '5s' });
    await job!.extend('10s');
    await job!.complete();
    await until('all have run', () => get(Handlers).ran.length === 5);
    request.end();
  });
  expect(get(Handlers).ran.sort()).toEqual([
    'completed first',
    'completed popped',
    'completed second',
    'first',
    'second',
  ]);
  await stopApps();
  expect(sent).toBeGreaterThan(5);
  expect(inside).toEqual([]);
});

it('workers that a request starts do not go on in its span', async () => {
  const imports = [ScheduledQueueTracingModule.forRoot()];
  const { producer, consumer, get } = await startApp([Handlers], { autoStart: false }, { imports });
  await producer.schedule('second', null);
  await tracer.startActiveSpan('request', async (request) => {
    await consumer.start();
    request.end();
  });
  await until('it has run', () => get(Handlers).ran.length === 2);
  expect(get(Handlers).ran).toEqual(['second', 'completed second']);
  expect(inside).toEqual([]);
});

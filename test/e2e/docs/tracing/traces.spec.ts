import { afterAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTracingModule } from 'nestjs-redis-scheduled-queue/opentelemetry';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
afterAll(() => trace.disable());

@Injectable()
class Mails {
  @OnScheduledJob('mail.send', { maxAttempts: 1 })
  send() {
    throw new TypeError('no address');
  }
}

it('a mail that fails is seen in its trace', async () => {
  const app = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot(), ScheduledQueueTracingModule.forRoot()],
    providers: [Mails],
  }).compile();
  await app.init();

  await app.get(ScheduledQueueProducer).schedule('mail.send', {}, { delay: '2h' });
  await app.get(ScheduledQueueTester).advance('2h');

  const [send, process] = exporter.getFinishedSpans();
  expect([send?.name, process?.name]).toEqual(['send default', 'process default']);
  expect(process?.attributes).toMatchObject({ 'scheduled_queue.job.name': 'mail.send', 'error.type': 'TypeError' });
  await app.close();
});

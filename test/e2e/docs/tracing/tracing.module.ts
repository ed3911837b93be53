import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { BatchSpanProcessor, ConsoleSpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTracingModule } from 'nestjs-redis-scheduled-queue/opentelemetry';

const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new ConsoleSpanExporter() })],
});
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
propagation.setGlobalPropagator(
  new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
);

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({ connection: process.env.REDIS_URL! }),
    ScheduledQueueTracingModule.forRoot({ linkAfterMs: '5m' }),
  ],
})
export class TracedQueueModule implements OnApplicationShutdown {
  async onApplicationShutdown() {
    // Exports the last spans.
    await provider.shutdown();
  }
}

import { context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ScheduledJob } from 'nestjs-redis-scheduled-queue';

const thrownAway: SpanExporter = {
  export: (_, done) => done({ code: 0 }),
  shutdown: async () => {},
};

/** Registers an SDK of OpenTelemetry for this process, as an application does it; what it exports is thrown away. */
export function traceIntoNothing(): void {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(thrownAway)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

/**
 * The least that spans like those of the tracing module cost with this SDK: one around each handler, with the same attributes, parent and
 * link, all of a context that was read once. `headers` carry it, as those of jobs that the module traces.
 */
export function spansByHand() {
  const tracer = trace.getTracer('bench');
  const send = tracer.startSpan('send default', { kind: SpanKind.PRODUCER }, ROOT_CONTEXT);
  const headers: Record<string, string> = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, send), headers);
  send.end();
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const links = [{ context: send.spanContext() }];

  return {
    headers,
    /** The handler must not throw: nothing more than this would be the least. */
    around(job: ScheduledJob, handle: () => Promise<unknown>): Promise<unknown> {
      const attributes = {
        'messaging.system.name': 'scheduled_queue',
        'messaging.destination.name': job.queue,
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.message.id': job.id,
        'scheduled_queue.job.name': job.name,
        'scheduled_queue.job.attempt': job.attempt,
      };
      const span = tracer.startSpan(`process ${job.queue}`, { kind: SpanKind.CONSUMER, attributes, links }, parent);
      return context.with(trace.setSpan(parent, span), handle).then((result) => {
        span.end();
        return result;
      });
    },
  };
}

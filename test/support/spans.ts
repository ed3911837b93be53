import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { until } from './wait.js';

/** What this process traces, by an SDK that is registered as an application does it. */
export class Spans {
  private readonly exporter = new InMemorySpanExporter();
  /** Those that have begun and not ended, by their ids. */
  readonly open = new Map<string, string>();

  register(): void {
    const watching: SpanProcessor = {
      onStart: (span) => void this.open.set(span.spanContext().spanId, span.name),
      onEnd: (span) => void this.open.delete(span.spanContext().spanId),
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [watching, new SimpleSpanProcessor(this.exporter)] }),
    );
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
  }

  unregister(): void {
    trace.disable();
    context.disable();
    propagation.disable();
    this.reset();
  }

  reset(): void {
    this.exporter.reset();
    this.open.clear();
  }

  /** Those that have ended, in that order. */
  ended(name?: string): ReadableSpan[] {
    return this.exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
  }

  /** Waits until so many of this name have ended. */
  async wait(name: string, count = 1): Promise<ReadableSpan[]> {
    return await until(`${count} spans named ${name}, of ${this.ended().map((span) => span.name)}`, () => {
      const spans = this.ended(name);
      return spans.length >= count && spans;
    });
  }

  async one(name: string): Promise<ReadableSpan> {
    const [span] = await this.wait(name);
    return span!;
  }
}

/** A span as a test compares it: whole, but for its times and its stack. */
export function shown(span: ReadableSpan) {
  return {
    name: span.name,
    kind: SpanKind[span.kind],
    attributes: span.attributes,
    links: span.links.map(({ context: { spanId } }) => spanId),
    status: SpanStatusCode[span.status.code],
    exceptions: span.events.map(({ attributes }) => [attributes!['exception.type'], attributes!['exception.message']]),
  };
}

export const traceOf = (span: ReadableSpan) => span.spanContext().traceId;
export const idOf = (span: ReadableSpan) => span.spanContext().spanId;
export const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
/** Epoch ms. */
export const startOf = ({ startTime: [seconds, nanos] }: ReadableSpan) => seconds * 1_000 + nanos / 1e6;

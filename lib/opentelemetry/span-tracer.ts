import {
  type Context,
  context,
  INVALID_SPANID,
  INVALID_TRACEID,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { ScheduledJob } from '../core/job/scheduled-job.js';
import type { JobHeaders, ReceivedJob, RunSpan, SendSpan, SentJob, Tracer } from '../core/observe/tracer.js';
import { VERSION } from '../core/version.js';
import { attributesOf } from './attributes.js';
import { fromHeaders, toHeaders, withoutContext } from './carried-context.js';
import { guarded } from './guard.js';
import { SpanOfRun, SpanOfSend } from './queue-span.js';

export interface SpanTracerOptions {
  /** Up to which age of its job a run is a child of the span that scheduled it; 0: never. */
  readonly linkAfterMs: number;
  readonly oldNames: boolean;
}

/** Traces one instance of the module by the global tracer provider, propagator and context manager, whenever an SDK registers them. */
export class SpanTracer implements Tracer {
  private readonly tracer = trace.getTracer('nestjs-redis-scheduled-queue', VERSION);

  /** The context that was read last. Jobs that one call has scheduled are mostly claimed together, and carry the same one. */
  private last?: Sent & { readonly headers: JobHeaders };

  constructor(private readonly options: SpanTracerOptions) {}

  beginSend(queue: string, jobs: readonly SentJob[]): SendSpan {
    const parent = guarded(() => context.active()) ?? ROOT_CONTEXT;
    const attributes = attributesOf(queue, 'send', jobs, this.options.oldNames);
    const span = guarded(() => this.tracer.startSpan(`send ${queue}`, { kind: SpanKind.PRODUCER, attributes }, parent));
    const carried = span && guarded(() => toHeaders(trace.setSpan(parent, span)));
    return new SpanOfSend(span, carried, jobs.length === 1);
  }

  withoutContext(headers: JobHeaders, ofJob: JobHeaders): JobHeaders {
    return guarded(() => withoutContext(headers, ofJob)) ?? headers;
  }

  beginRun(job: ScheduledJob, ageMs: number): RunSpan {
    return guarded(() => this.spanOfRun(job, ageMs)) ?? NO_SPAN;
  }

  beginReceive(queue: string): (jobs: readonly ReceivedJob[]) => void {
    const startTime = Date.now();
    const parent = guarded(() => context.active()) ?? ROOT_CONTEXT;
    return (jobs) => {
      const attributes = attributesOf(queue, 'receive', jobs, this.options.oldNames);
      const options = { kind: SpanKind.CLIENT, attributes, links: linksTo(jobs), startTime };
      guarded(() => this.tracer.startSpan(`receive ${queue}`, options, parent).end());
    };
  }

  private spanOfRun(job: ScheduledJob, ageMs: number): RunSpan {
    const { queue } = job;
    const { linkAfterMs, oldNames } = this.options;
    const { sent, link } = this.sentOf(job.headers);
    const isChild = linkAfterMs > 0 && ageMs <= linkAfterMs && job.recurrence === undefined;
    // What else has travelled, such as baggage, is there in any case.
    const parent = isChild || !link ? sent : trace.deleteSpan(sent);
    const attributes = attributesOf(queue, 'process', [job], oldNames, job.attempt);
    const options = { kind: SpanKind.CONSUMER, attributes, links: link && [link] };
    const span = this.tracer.startSpan(`process ${queue}`, options, parent);
    return new SpanOfRun(span, trace.setSpan(parent, span));
  }

  private sentOf(headers: JobHeaders): Sent {
    if (this.last && areSame(this.last.headers, headers)) return this.last;
    // A propagator that throws, or answers something else than a context, costs the link and not the span.
    const read = guarded(() => readSent(headers)) ?? { sent: ROOT_CONTEXT };
    if (read.link) this.last = { headers, ...read };
    return read;
  }
}

/** What a job has brought along. */
interface Sent {
  readonly sent: Context;
  /** To the span that scheduled it, if there is one. */
  readonly link?: Link;
}

function readSent(headers: JobHeaders): Sent {
  const sent = fromHeaders(headers);
  const sender = spanIn(sent);
  return { sent, link: sender && { context: sender } };
}

function areSame(some: JobHeaders, others: JobHeaders): boolean {
  const names = Object.keys(some);
  return names.length === Object.keys(others).length && names.every((name) => some[name] === others[name]);
}

const NO_SPAN: RunSpan = new SpanOfRun(undefined, undefined);

/** The span that scheduled a job, if its context holds one. Of its ids a propagator has read that they are such. */
function spanIn(sent: Context): SpanContext | undefined {
  const found = trace.getSpanContext(sent);
  return found && found.traceId !== INVALID_TRACEID && found.spanId !== INVALID_SPANID ? found : undefined;
}

/** To the span that scheduled each of these jobs: one link a span, however many of them it scheduled. */
function linksTo(jobs: readonly { headers: JobHeaders }[]): Link[] {
  const links = new Map<string, Link>();
  for (const { headers } of jobs) {
    const sender = guarded(() => spanIn(fromHeaders(headers)));
    if (sender) links.set(sender.spanId, { context: sender });
  }
  return [...links.values()];
}

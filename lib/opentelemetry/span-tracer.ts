import {
  type Attributes,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { ScheduledJob } from '../core/job/scheduled-job.js';
import type { JobHeaders, ReceivedJob, RunSpan, SendSpan, SentJob, Tracer } from '../core/observe/tracer.js';
import { VERSION } from '../core/version.js';
import {
  DESTINATION_NAME,
  JOB_ATTEMPT,
  JOB_NAME,
  MESSAGE_COUNT,
  MESSAGE_ID,
  OLD_SYSTEM_NAME,
  OPERATION_NAME,
  OPERATION_TYPE,
  SYSTEM,
  SYSTEM_NAME,
} from './attribute-names.js';
import { fromHeaders, toHeaders } from './carried-context.js';
import { guarded } from './guard.js';
import { SpanOfRun, SpanOfSend } from './queue-span.js';

type Operation = 'send' | 'process' | 'receive';

export interface SpanTracerOptions {
  /** Up to which age of its job a run is a child of the span that scheduled it; 0: never. */
  readonly linkAfterMs: number;
  readonly oldNames: boolean;
}

/** Traces one instance of the module by the global tracer provider, propagator and context manager, whenever an SDK registers them. */
export class SpanTracer implements Tracer {
  private readonly tracer = trace.getTracer('nestjs-redis-scheduled-queue', VERSION);

  constructor(private readonly options: SpanTracerOptions) {}

  beginSend(queue: string, jobs: readonly SentJob[]): SendSpan {
    const parent = guarded(() => context.active()) ?? ROOT_CONTEXT;
    const attributes = this.attributesOf(queue, 'send', jobs);
    const span = guarded(() => this.tracer.startSpan(`send ${queue}`, { kind: SpanKind.PRODUCER, attributes }, parent));
    const headers = span && guarded(() => toHeaders(trace.setSpan(parent, span)));
    return new SpanOfSend(span, headers, jobs.length === 1);
  }

  beginRun(job: ScheduledJob, ageMs: number): RunSpan {
    const { queue, headers } = job;
    const sent = guarded(() => fromHeaders(headers)) ?? ROOT_CONTEXT;
    const sender = guarded(() => validSpanIn(sent));
    const { linkAfterMs } = this.options;
    const isChild = linkAfterMs > 0 && ageMs <= linkAfterMs && job.recurrence === undefined;
    // What else has travelled, such as baggage, is there in any case.
    const parent = isChild ? sent : trace.deleteSpan(sent);
    const attributes = this.attributesOf(queue, 'process', [job]);
    attributes[JOB_ATTEMPT] = job.attempt;
    const links = sender && [{ context: sender }];
    const options = { kind: SpanKind.CONSUMER, attributes, links };
    const span = guarded(() => this.tracer.startSpan(`process ${queue}`, options, parent));
    return new SpanOfRun(span, span && trace.setSpan(parent, span));
  }

  beginReceive(queue: string): (jobs: readonly ReceivedJob[]) => void {
    const startTime = Date.now();
    const parent = guarded(() => context.active()) ?? ROOT_CONTEXT;
    return (jobs) => {
      const attributes = this.attributesOf(queue, 'receive', jobs);
      const links = linksTo(jobs);
      const options = { kind: SpanKind.CLIENT, attributes, links, startTime };
      guarded(() => this.tracer.startSpan(`receive ${queue}`, options, parent).end());
    };
  }

  private attributesOf(queue: string, operation: Operation, jobs: readonly SentJob[]): Attributes {
    const attributes: Attributes = {
      [SYSTEM_NAME]: SYSTEM,
      [DESTINATION_NAME]: queue,
      [OPERATION_NAME]: operation,
      [OPERATION_TYPE]: operation,
    };
    if (this.options.oldNames) attributes[OLD_SYSTEM_NAME] = SYSTEM;
    if (jobs.length > 1) {
      attributes[MESSAGE_COUNT] = jobs.length;
      return attributes;
    }
    const { id, name } = jobs[0]!;
    attributes[JOB_NAME] = name;
    if (id !== undefined) attributes[MESSAGE_ID] = id;
    return attributes;
  }
}

function validSpanIn(sent: ReturnType<typeof fromHeaders>): SpanContext | undefined {
  const found = trace.getSpanContext(sent);
  return found && isSpanContextValid(found) ? found : undefined;
}

/** To the span that scheduled each of these jobs: one link a span, however many of them it scheduled. */
function linksTo(jobs: readonly { headers: JobHeaders }[]): Link[] {
  const links = new Map<string, Link>();
  for (const { headers } of jobs) {
    const sender = guarded(() => validSpanIn(fromHeaders(headers)));
    if (sender) links.set(sender.spanId, { context: sender });
  }
  return [...links.values()];
}

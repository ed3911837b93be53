import type { JobHeaders, SendSpan, Tracer } from '../core/observe/tracer.js';
import type { ScheduleRequest } from '../core/options/schedule-options.js';

/** Begins the span of a call that schedules one job, which carries its context from then on. */
export function beginSend(tracer: Tracer, request: ScheduleRequest): SendSpan {
  const span = tracer.beginSend(request.queue, [request]);
  carry(request, span.headers);
  return span;
}

/** A header that the job has already stays as it is. */
function carry(request: ScheduleRequest, context: JobHeaders | undefined): void {
  if (context) request.settings = { ...request.settings, headers: { ...context, ...request.settings.headers } };
}

interface OpenSpan {
  readonly span: SendSpan;
  /** How many of its jobs have not been answered for. */
  unanswered: number;
  /** The first error of one of them. */
  failure?: { error: unknown };
}

/** The spans of one `scheduleMany`: one a queue, which ends once all jobs of that queue are answered for. */
export class SendSpans {
  private readonly spans = new Map<string, OpenSpan>();

  /** The jobs of each queue carry the context of its span from then on. */
  constructor(tracer: Tracer, requests: readonly ScheduleRequest[]) {
    const byQueue = new Map<string, ScheduleRequest[]>();
    for (const request of requests) {
      const jobs = byQueue.get(request.queue);
      if (jobs) jobs.push(request);
      else byQueue.set(request.queue, [request]);
    }
    for (const [queue, jobs] of byQueue) {
      const span = tracer.beginSend(queue, jobs);
      for (const job of jobs) carry(job, span.headers);
      this.spans.set(queue, { span, unanswered: jobs.length });
    }
  }

  /** One job of this queue has this id, or has failed. */
  answered(queue: string, id: string | undefined, error: unknown): void {
    const open = this.spans.get(queue)!;
    if (id === undefined) open.failure ??= { error };
    open.unanswered--;
    if (open.unanswered > 0) return;
    if (open.failure) open.span.fail(open.failure.error);
    else open.span.end(id);
  }

  /** The call has failed before all of its jobs were answered for. */
  failOpen(error: unknown): void {
    for (const { span, unanswered } of this.spans.values()) if (unanswered > 0) span.fail(error);
  }
}

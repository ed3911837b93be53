import { currentScheduledJob } from '../core/job/current-job.js';
import type { SendSpan, Tracer } from '../core/observe/tracer.js';
import type { ScheduleOptions, ScheduleRequest } from '../core/options/schedule-options.js';
import { isRecord } from '../core/read/shape.js';

/**
 * What a call says, without the context that the job of its handler has brought along: a handler may pass on all headers of its job for
 * the sake of its own. The old context would count among them, and keep out that of the handler's run.
 */
export function withoutPassedOn(
  tracer: Tracer | undefined,
  options: ScheduleOptions | undefined,
): ScheduleOptions | undefined {
  const job = tracer && currentScheduledJob();
  if (!job || !isRecord(options) || !isRecord(options.headers)) return options;
  return { ...options, headers: tracer.withoutContext(options.headers, job.headers) };
}

/** Begins the span of a call that schedules one job, which carries its context from then on. */
export function beginSend(tracer: Tracer, request: ScheduleRequest): SendSpan {
  const span = tracer.beginSend(request.queue, [request]);
  carry(request, span);
  return span;
}

function carry(request: ScheduleRequest, span: SendSpan): void {
  const headers = span.headersWith(request.settings.headers);
  if (headers) request.settings = { ...request.settings, headers };
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
      for (const job of jobs) carry(job, span);
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

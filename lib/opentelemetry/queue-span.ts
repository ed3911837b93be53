import { type Context, context, type Span, SpanStatusCode } from '@opentelemetry/api';
import { describeError } from '../core/error-description.js';
import { ScheduledQueueError } from '../core/errors.js';
import type { JobHeaders, RunSpan, SendSpan } from '../core/observe/tracer.js';
import { ERROR_TYPE, MESSAGE_ID, OTHER_ERROR } from './attributes.js';
import { withContext } from './carried-context.js';
import { guarded } from './guard.js';

/** A span that ends once. Nothing of it throws. `span` is missing where it could not be made. */
class QueueSpan {
  private hasEnded = false;

  constructor(private readonly span: Span | undefined) {}

  end(): void {
    this.endWith(() => {});
  }

  fail(error: unknown, kind?: string): void {
    this.endWith((span) => setFailure(span, error, kind));
  }

  /** `tell`: what the span is told before. */
  protected endWith(tell: (span: Span) => void): void {
    const { span } = this;
    if (!span || this.hasEnded) return;
    this.hasEnded = true;
    guarded(() => span.isRecording() && tell(span));
    guarded(() => span.end());
  }
}

/**
 * What failed is told as the log tells it: of an error about a payload, without its values. The code of an error is left out, since an
 * SDK would take it for its type.
 */
function setFailure(span: Span, error: unknown, kind?: string): void {
  const { name, message, stack, isError } = describeError(error);
  const type = isError ? name : OTHER_ERROR;
  span.setAttribute(ERROR_TYPE, kind ?? type);
  if (kind === undefined) span.recordException({ name: type, message, stack });
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

export class SpanOfSend extends QueueSpan implements SendSpan {
  constructor(
    span: Span | undefined,
    /** The context that the call hands on. */
    private readonly carried: JobHeaders | undefined,
    /** Whether the call is about one job. */
    private readonly isOfOne: boolean,
  ) {
    super(span);
  }

  headersWith(given: JobHeaders | undefined): JobHeaders | undefined {
    const { carried } = this;
    return carried && (guarded(() => withContext(given ?? {}, carried)) ?? given);
  }

  override end(id?: string): void {
    this.endWith((span) => this.nameJob(span, id));
  }

  /** The error may know the id that was made for a job which perhaps exists. */
  override fail(error: unknown): void {
    this.endWith((span) => {
      this.nameJob(span, error instanceof ScheduledQueueError ? error.jobId : undefined);
      setFailure(span, error);
    });
  }

  private nameJob(span: Span, id: string | undefined): void {
    if (this.isOfOne && id !== undefined) span.setAttribute(MESSAGE_ID, id);
  }
}

export class SpanOfRun extends QueueSpan implements RunSpan {
  /** `active`: the context in which the handler runs. */
  constructor(
    span: Span | undefined,
    private readonly active: Context | undefined,
  ) {
    super(span);
  }

  run<T>(handler: () => T): T {
    if (!this.active) return handler();
    let wasCalled = false;
    let returned: { value: T } | undefined;
    const call = () => {
      wasCalled = true;
      returned = { value: handler() };
      return returned.value;
    };
    try {
      return context.with(this.active, call);
    } catch (error) {
      // It may be the context manager's, before the handler or after it.
      if (returned) return returned.value;
      if (wasCalled) throw error;
      return handler();
    }
  }
}

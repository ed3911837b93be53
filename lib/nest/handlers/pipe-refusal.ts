import { HttpException } from '@nestjs/common';
import { InvalidPayloadError, type PayloadFinding } from '../../core/errors.js';
import type { ScheduledJob } from '../../core/job/scheduled-job.js';
import { REDACTED, type Redaction } from '../../core/payload/redaction.js';
import { type ShownError, showAs, valueEraser } from '../../core/payload/without-values.js';
import { PayloadRefusal } from '../../worker/run/payload-refusal.js';

/** A pipe may report any number of findings. Logs and stored failures show this many. */
const MOST_FINDINGS = 100;

/** What the pipes of each run threw. A run whose pipes threw has not come to its handler, so the handler threw nothing of that. */
export class PipeRefusals {
  private readonly thrown = new WeakMap<ScheduledJob, unknown>();

  constructor(private readonly redaction: Redaction) {}

  note(job: ScheduledJob, error: unknown): void {
    this.thrown.set(job, error);
  }

  /**
   * What counts where a run threw `error`: a `PayloadRefusal` if that is the client error (400 to 499) of a pipe, else the error
   * itself. A filter or an interceptor that throws something else decides by that.
   */
  judge(job: ScheduledJob, error: unknown, place: string): unknown {
    if (this.thrown.get(job) !== error || !(error instanceof HttpException)) return error;
    if (!isClientError(error)) return this.redaction.isEmpty ? error : showAs(error, this.shown(error, job));
    const { queue, name, id } = job;
    const { message: list, findings } = this.shown(error, job);
    const message = `The payload of job '${name}' was refused by a pipe of ${place} (${error.name}, ${error.getStatus()}): ${list}.`;
    const refused = new InvalidPayloadError(message, findings, { queue, jobName: name, jobId: id, cause: error });
    // What the pipe threw says the same with values: no log shows it.
    return new PayloadRefusal(showAs(refused, { message, findings }));
  }

  /** What a pipe found, without values of the payload. */
  private shown(error: HttpException, job: ScheduledJob): ShownError {
    const erased = valueEraser(job.payload);
    const findings = findingsOf(error).map((finding) => this.redacted(finding, erased));
    const sentences = findings.map(({ path, messages }) => `${path ? `${path}: ` : ''}${messages.join(', ')}`);
    return { message: sentences.join('; '), findings };
  }

  /** Nest's ValidationPipe hands on sentences: one that names a redacted property tells no more than that name. */
  private redacted({ path, messages }: PayloadFinding, erased: (text: string) => string): PayloadFinding {
    if (path.split('.').some((step) => this.redaction.has(step))) return { path, messages: [REDACTED] };
    return {
      path,
      messages: messages.map((text) => {
        const name = this.redaction.nameIn(text);
        return name === undefined ? erased(text) : `${name}: ${REDACTED}`;
      }),
    };
  }
}

function isClientError(error: HttpException): boolean {
  const status = error.getStatus();
  return status >= 400 && status < 500;
}

/** What the exception's response says: `message` is one sentence or a list in Nest's own pipes, `errors` a list in those of others. */
function findingsOf(error: HttpException): PayloadFinding[] {
  const response = error.getResponse();
  const { message, errors } = (typeof response === 'object' && response !== null ? response : {}) as {
    message?: unknown;
    errors?: unknown;
  };
  const findings = [errors, message]
    .filter((list) => Array.isArray(list))
    .flatMap((list) => (list as unknown[]).slice(0, MOST_FINDINGS).flatMap((item) => findingOf(item, '')));
  return findings.length > 0 ? findings : [{ path: '', messages: [error.message] }];
}

interface Found {
  property?: unknown;
  path?: unknown;
  message?: unknown;
  constraints?: unknown;
  children?: unknown;
}

/** A sentence, a finding of class-validator, or an issue with `path` and `message`, as schema libraries have them. Never a value of the payload. */
function findingOf(item: unknown, parent: string): PayloadFinding[] {
  if (typeof item === 'string') return [{ path: parent, messages: [item] }];
  if (typeof item !== 'object' || item === null) return [];
  const { property, path, message, constraints, children } = item as Found;
  const own = [property ?? path ?? []]
    .flat()
    .map(stepOf)
    .filter((step) => typeof step === 'string' || typeof step === 'number');
  const here = [...(parent ? [parent] : []), ...own].join('.');
  const messages = [message, ...Object.values(constraints ?? {})].filter((text) => typeof text === 'string');
  const below = Array.isArray(children) ? children.flatMap((child) => findingOf(child, here)) : [];
  return [...(messages.length > 0 ? [{ path: here, messages }] : []), ...below];
}

/** Some schema libraries name a step of a path by an object with its key. */
function stepOf(step: unknown): unknown {
  return typeof step === 'object' && step !== null && 'key' in step ? step.key : step;
}

import { PayloadTooLargeError } from '../core/errors.js';
import { toStoredStep } from '../core/job/chain.js';
import { readSteps, type StepRequest } from '../core/options/chain-options.js';
import type { ScheduleRequest } from '../core/options/schedule-options.js';
import type { Codecs, StoredPayload } from '../core/payload/codecs.js';
import { invalidPayload, serialisePayload } from '../core/payload/payload.js';
import type { PayloadChecker } from '../core/payload/payload-class.js';

/**
 * Puts payloads into requests as they are stored: `check` and then, where all of a call fit, `encode`. The payloads of a chain's next jobs go
 * with that of its first one.
 */
export class PayloadWriter {
  /** The steps of requests whose payloads a codec has still to write. */
  private readonly steps = new WeakMap<ScheduleRequest, readonly StepRequest[]>();

  constructor(
    private readonly codecs: Codecs,
    private readonly checker: PayloadChecker,
    private readonly maxBytes: number,
  ) {}

  /**
   * Throws, or rejects with, `InvalidPayloadError` or `PayloadTooLargeError`, and `InvalidScheduleError` for steps of a chain that cannot be used. A
   * promise where the payload is checked against its class, or has to be with those of steps.
   */
  check(payload: unknown, request: ScheduleRequest): Promise<unknown> | undefined {
    return request.then === undefined ? this.checkOne(payload, request) : this.checkChain(payload, request);
  }

  private async checkChain(payload: unknown, request: ScheduleRequest): Promise<void> {
    const steps = readSteps(request);
    await this.checkOne(payload, request);
    for (const step of steps) await this.checkOne(step.payload, step.request);
    request.then = undefined;
    if (steps.length === 0) return;
    // JSON is whole already.
    if (this.codecs.encodes) this.steps.set(request, steps);
    else this.writeChain(request, steps);
  }

  private async encodeChain(payload: unknown, request: ScheduleRequest, steps: readonly StepRequest[]): Promise<void> {
    await this.encodeOne(payload, request);
    for (const step of steps) await this.encodeOne(step.payload, step.request);
    this.writeChain(request, steps);
  }

  private writeChain(request: ScheduleRequest, steps: readonly StepRequest[]): void {
    const stored = steps.map((step) => JSON.stringify(toStoredStep(step.request)));
    request.chain = { step: 1, of: stored.length + 1, steps: stored };
    let bytes = Buffer.byteLength(request.payload);
    for (const step of steps) bytes += Buffer.byteLength(step.request.payload);
    if (bytes > this.maxBytes) throw new PayloadTooLargeError(bytes, this.maxBytes, fieldsOf(request));
  }

  private checkOne(payload: unknown, request: ScheduleRequest): Promise<unknown> | undefined {
    const { definition } = request;
    const fields = fieldsOf(request);
    const type = definition?.payload;
    // A definition without a class may be one of jobs without a payload; a bare name with one forgotten is a mistake.
    if (payload === undefined && (type || !definition)) {
      const expected = type ? `a ${type.name}` : 'a value; null says that there is none';
      throw invalidPayload(`is undefined, expected ${expected}`, fields, [{ path: '', messages: ['is undefined'] }]);
    }
    // Before it is encoded: a codec may write something elsewhere.
    if (this.codecs.encodes) return type && this.checker.check(payload, type, fields);
    request.payload = serialisePayload(payload, this.maxBytes, fields);
    // In the form that the handler will see, so that nothing is accepted here which is refused there.
    return type && this.checker.read(request.payload, type, fields);
  }

  /** Throws `PayloadTooLargeError` where another process, which may write larger ones, has encoded a payload that is too large here. */
  refuseTooLarge(request: ScheduleRequest): void {
    const bytes = Buffer.byteLength(request.payload);
    if (bytes > this.maxBytes) throw new PayloadTooLargeError(bytes, this.maxBytes, fieldsOf(request));
  }

  /** Throws as `check` does. A promise where the codec answers one; JSON is there already. */
  encode(payload: unknown, request: ScheduleRequest): Promise<void> | undefined {
    const steps = this.codecs.encodes ? this.steps.get(request) : undefined;
    return steps ? this.encodeChain(payload, request, steps) : this.encodeOne(payload, request);
  }

  private encodeOne(payload: unknown, request: ScheduleRequest): Promise<void> | undefined {
    if (!this.codecs.encodes || payload === undefined) return undefined;
    const stored = this.codecs.encode(payload, this.maxBytes, fieldsOf(request));
    if (stored instanceof Promise) return stored.then((answer) => put(answer, request));
    put(stored, request);
  }
}

function put({ codec, payload }: StoredPayload, request: ScheduleRequest): void {
  request.codec = codec;
  request.payload = payload;
}

function fieldsOf({ queue, name, id }: ScheduleRequest) {
  return { queue, jobName: name, jobId: id };
}

import { LONGEST_TIMEOUT_MS, SystemClock } from '../clock.js';
import {
  InvalidPayloadError,
  PayloadTooLargeError,
  type ScheduledQueueErrorFields,
  UnknownCodecError,
} from '../errors.js';
import { describe } from '../read/describe.js';
import { isThenable } from '../thenable.js';
import { JSON_ID, type PayloadCodec } from './codec.js';
import { deserialisePayload, invalidPayload } from './payload.js';

/** A payload as it is stored: JSON text where there is no codec. */
export interface StoredPayload {
  readonly codec?: string;
  readonly payload: string | Uint8Array;
}

/** Which job a payload belongs to, for errors. */
interface WhichJob {
  readonly queue: string;
  readonly name: string;
  readonly id: string;
}

/** Of the machine, also where a test stands in for time: codecs ask services that know nothing of it. */
const clock = new SystemClock();

const NONE: ReadonlyMap<string, PayloadCodec> = new Map();

/** The codecs that this process knows: the one that it writes with, if not JSON, and those that it reads. */
export class Codecs {
  constructor(
    private readonly known: ReadonlyMap<string, PayloadCodec> = NONE,
    private readonly writing?: PayloadCodec,
    /** How long a codec that answers promises may take: the option `commandTimeoutMs`. */
    private readonly withinMs: number = LONGEST_TIMEOUT_MS,
  ) {}

  /** The id of the codec that payloads are written with. */
  get writes(): string {
    return this.writing?.id ?? JSON_ID;
  }

  /** Whether payloads are written as something else than JSON. */
  get encodes(): boolean {
    return this.writing !== undefined;
  }

  /** Whether this process reads anything but JSON, so that stored payloads may be bytes. */
  get decodes(): boolean {
    return this.known.size > 0;
  }

  /** The payload as it is to be stored; a promise of that only from a codec that answers one. Throws, or rejects with, `InvalidPayloadError` or `PayloadTooLargeError`. */
  encode(
    payload: unknown,
    maxBytes: number,
    fields: ScheduledQueueErrorFields,
  ): StoredPayload | Promise<StoredPayload> {
    const codec = this.writing!;
    const failed = (cause: unknown) => notEncoded(codec.id, cause, fields);
    const take = (answer: unknown) => toStored(codec.id, answer, maxBytes, fields);
    let answer: unknown;
    try {
      answer = this.inTime(codec.id, codec.encode(payload));
    } catch (cause) {
      throw failed(cause);
    }
    if (answer instanceof Promise) return answer.then(take, (cause) => Promise.reject(failed(cause)));
    return take(answer);
  }

  /**
   * The payload that was stored; a `Promise` of it only from a codec that answers one, whatever its kind. Throws, or rejects with, what
   * the codec does, an error where it takes too long, and `UnknownCodecError`. Of JSON it throws a `SyntaxError` that shows nothing of the payload.
   */
  decode({ codec, payload }: StoredPayload, job: WhichJob): unknown {
    if (codec === undefined) return deserialisePayload(payload as string);
    const known = this.known.get(codec);
    if (!known) throw new UnknownCodecError(codec, { queue: job.queue, jobName: job.name, jobId: job.id });
    return this.inTime(codec, known.decode(payload));
  }

  /** What a codec has answered. Of a promise, also of another library, one that is settled in time. */
  private inTime(codec: string, answer: unknown): unknown {
    if (!isThenable(answer)) return answer;
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`Codec '${codec}' has not answered within commandTimeoutMs (${this.withinMs} ms)`));
      const callOff = clock.after(this.withinMs, late, { keepsAlive: false });
      // Not `answer.then`: a foreign thenable may throw there.
      Promise.resolve(answer).finally(callOff).then(resolve, reject);
    });
  }
}

function toStored(codec: string, answer: unknown, maxBytes: number, fields: ScheduledQueueErrorFields): StoredPayload {
  const isText = typeof answer === 'string';
  if (!isText && !(answer instanceof Uint8Array)) {
    const message = `was encoded by codec '${codec}' as ${describe(answer)}, expected a string or a Uint8Array`;
    throw invalidPayload(message, fields);
  }
  const bytes = isText ? Buffer.byteLength(answer) : answer.byteLength;
  if (bytes > maxBytes) throw new PayloadTooLargeError(bytes, maxBytes, fields);
  return { codec, payload: isText ? answer : asBuffer(answer) };
}

/** The same bytes, not copied: what talks to Redis, and most that decodes, wants a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function notEncoded(codec: string, cause: unknown, fields: ScheduledQueueErrorFields): InvalidPayloadError {
  const reason = (cause as Error)?.message ?? describe(cause);
  const findings = cause instanceof InvalidPayloadError && cause.findings.length > 0 ? cause.findings : undefined;
  return invalidPayload(`cannot be encoded by codec '${codec}': ${reason}`, { ...fields, cause }, findings);
}

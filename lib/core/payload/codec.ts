import { InvalidOptionsError } from '../errors.js';
import { describe } from '../read/describe.js';
import { keyPart } from '../read/names.js';
import type { Check } from '../read/shape.js';

/**
 * How payloads are stored: for example as MessagePack, encrypted, or elsewhere under a key. `Stored` is what `encode` answers:
 * text or bytes. `decode` is given the same again: a string where `encode` answered a string, else a Buffer.
 * A job without a payload reaches no codec.
 */
export interface PayloadCodec<Stored extends string | Uint8Array = string | Uint8Array> {
  /**
   * Is stored with each job and tells its reader which codec to use. So it is unique, and it changes when the format does.
   * 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, a letter or digit first; not `'json'`, which is what stores jobs without a codec.
   */
  readonly id: string;
  /**
   * Makes of a payload what is stored. It has been validated before, and is not changed until the codec has answered. If the codec
   * throws or rejects, or its promise is not settled within `commandTimeoutMs`, `schedule` throws an `InvalidPayloadError` with that as
   * its `cause`. What it answers must not be changed later.
   */
  encode(payload: unknown): Stored | Promise<Stored>;
  /**
   * Makes a payload of what is stored, or a promise of one. It is called again at each attempt, and by the inspector. If it throws or
   * rejects, or its promise is not settled within `commandTimeoutMs`, the attempt has failed and is retried by the backoff. An `InvalidPayloadError` says that this payload can never be
   * decoded, and an `UnrecoverableJobError` that the job can never succeed: either makes the job dead at once.
   */
  decode(stored: Stored): unknown;
}

/** What jobs without a codec are stored as. */
export const JSON_ID = 'json';

const expected = 'expected a codec: { id, encode(payload), decode(stored) }';

/** The option `codec`. An instance of a class is as good as a plain object. */
export const payloadCodec: Check<PayloadCodec> = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: `got ${describe(value)}, ${expected}` };
  const { id, encode, decode } = value as Record<keyof PayloadCodec, unknown>;
  const read = keyPart(id);
  if ('problem' in read) return { problem: `id: ${read.problem}` };
  if (read.value === JSON_ID)
    return { problem: `id: got '${JSON_ID}', expected another one: jobs without a codec are stored as ${JSON_ID}` };
  for (const [name, method] of Object.entries({ encode, decode })) {
    if (typeof method !== 'function') return { problem: `${name}: got ${describe(method)}, expected a function` };
  }
  return { value: value as PayloadCodec };
};

/** The option `codecs`. */
export const payloadCodecs: Check<readonly PayloadCodec[]> = (value) => {
  if (!Array.isArray(value)) return { problem: `got ${describe(value)}, expected an array of codecs` };
  for (const [i, codec] of value.entries()) {
    const read = payloadCodec(codec);
    if ('problem' in read) return { problem: `[${i}]: ${read.problem}` };
  }
  return { value: [...value] };
};

/** The codecs by id. The same one may be listed twice, so that processes which write different codecs can share one list. */
export function codecsById(codecs: readonly PayloadCodec[], where: string): ReadonlyMap<string, PayloadCodec> {
  const byId = new Map<string, PayloadCodec>();
  for (const codec of codecs) {
    const { id } = codec;
    const known = byId.get(id);
    if (known && known !== codec) {
      throw new InvalidOptionsError(
        `${where}: codecs: got two codecs with the id '${id}', expected an id for each: what is stored names its codec by its id.`,
      );
    }
    byId.set(id, codec);
  }
  return byId;
}

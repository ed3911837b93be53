import { Packr } from 'msgpackr';
import { InvalidPayloadError } from '../core/errors.js';
import type { PayloadCodec } from '../core/payload/codec.js';
import { findUnpackable } from './unpackable.js';

/**
 * What any MessagePack library can read: no extensions of msgpackr's own, and an undefined property is left out, as in JSON. A BigInt
 * that fits a number arrives as one. msgpackr's types lack some of these options.
 */
const OPTIONS = {
  useRecords: false,
  variableMapSize: true,
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
  int64AsType: 'auto' as never,
};
const packr = new Packr(OPTIONS);

/**
 * Stores payloads as MessagePack: smaller than JSON where they hold numbers or bytes, and readable in any language. Beside what JSON
 * holds it takes a `Buffer` or `Uint8Array` (it arrives as a `Buffer`), a `Date` (it arrives as one), a `BigInt` of up to 64 bits, `NaN`
 * and the infinities. The `toJSON` of a class is honoured. Needs the package msgpackr.
 *
 * @example
 * ```ts
 * RedisScheduledQueueModule.forRoot({ codec: messagePackCodec });
 * ```
 */
export const messagePackCodec: PayloadCodec<Uint8Array> = {
  id: 'msgpack',

  encode(payload) {
    const problem = findUnpackable(payload, '', 0);
    if (problem) {
      const at = problem.path === '' ? 'it' : `'${problem.path}'`;
      throw new InvalidPayloadError(`${at} ${problem.message}`, [{ path: problem.path, messages: [problem.message] }]);
    }
    return packr.pack(payload);
  },

  decode(stored) {
    try {
      return packr.unpack(stored);
    } catch (cause) {
      // Such bytes do not become MessagePack by another attempt.
      const message = `what is stored, ${stored.length} bytes, is not MessagePack`;
      throw new InvalidPayloadError(message, [{ path: '', messages: [message] }], { cause });
    }
  },
};

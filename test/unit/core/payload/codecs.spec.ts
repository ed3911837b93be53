import { describe, expect, it } from '@jest/globals';
import { InvalidPayloadError, PayloadTooLargeError, UnknownCodecError } from '../../../../lib/core/errors.js';
import type { PayloadCodec } from '../../../../lib/core/payload/codec.js';
import { Codecs, type StoredPayload } from '../../../../lib/core/payload/codecs.js';
import { rejected, thrown } from '../../thrown.js';

const FIELDS = { queue: 'mail', jobName: 'reminder.send', jobId: 'r7' };
const JOB = { queue: 'mail', name: 'reminder.send', id: 'r7' };
const MOST = 10;

/** A codec of which only what the test is about is given. */
function codecs(given: Partial<PayloadCodec>): Codecs {
  const codec = { id: 'mine', encode: () => 'stored', decode: (stored: unknown) => stored, ...given } as PayloadCodec;
  return new Codecs(new Map([[codec.id, codec]]), codec);
}
const encodedAs = (answer: unknown) => codecs({ encode: () => answer as never }).encode({}, MOST, FIELDS);

describe('encoding', () => {
  it('stores text as text, with the id of its codec', () => {
    expect(encodedAs('größe')).toEqual({ codec: 'mine', payload: 'größe' });
  });

  it('stores bytes as a Buffer over the very same bytes', () => {
    const all = new Uint8Array([0, 255, 254, 10, 0]);
    const { payload } = encodedAs(all.subarray(1, 4)) as StoredPayload;
    expect(Buffer.isBuffer(payload)).toBe(true);
    expect(payload).toEqual(Buffer.from([255, 254, 10]));
    expect((payload as Buffer).buffer).toBe(all.buffer);
  });

  it('takes nothing for an answer where a codec needs no bytes', () => {
    expect(encodedAs('')).toEqual({ codec: 'mine', payload: '' });
    expect(encodedAs(new Uint8Array())).toEqual({ codec: 'mine', payload: Buffer.alloc(0) });
  });

  it('waits only for a codec that answers a promise, or what is like one', async () => {
    expect(encodedAs('text')).not.toBeInstanceOf(Promise);
    await expect(encodedAs(Promise.resolve('later'))).resolves.toEqual({ codec: 'mine', payload: 'later' });
    const thenable = { then: (resolve: (text: string) => void) => resolve('foreign') };
    await expect(encodedAs(thenable)).resolves.toEqual({ codec: 'mine', payload: 'foreign' });
  });

  it('calls a codec as an object, so that it may be an instance of a class', () => {
    class Shouting implements PayloadCodec<string> {
      readonly id = 'shouting';
      constructor(private readonly end: string) {}
      encode(payload: unknown) {
        return `${payload}${this.end}`;
      }
      decode(stored: string) {
        return stored.slice(0, -this.end.length);
      }
    }
    const codec = new Shouting('!');
    const shouting = new Codecs(new Map([[codec.id, codec]]), codec);
    const stored = shouting.encode('hey', MOST, FIELDS) as StoredPayload;
    expect(stored.payload).toBe('hey!');
    expect(shouting.decode(stored, JOB)).toBe('hey');
  });

  it('turns a promise that throws when it is looked at into such an error', () => {
    const error = thrown<InvalidPayloadError>(() => encodedAs(thrower()));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.cause).toBe(FAILURE);
  });

  it('gives up a promise that is not settled in time', async () => {
    const codec = { id: 'mine', encode: never, decode: never };
    const error = await rejected<InvalidPayloadError>(
      Promise.resolve(new Codecs(new Map(), codec, 20).encode({}, MOST, FIELDS)),
    );
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(
      "The payload of job 'reminder.send' cannot be encoded by codec 'mine': Codec 'mine' has not answered within commandTimeoutMs (20 ms).",
    );
  });

  it.each([
    ['a throw', () => codecs({ encode: fails }).encode({}, MOST, FIELDS)],
    ['a rejection', () => codecs({ encode: async () => fails() }).encode({}, MOST, FIELDS)],
  ])('turns %s into an InvalidPayloadError that says which codec and why', async (_, encode) => {
    const error = await rejected<InvalidPayloadError>(Promise.resolve().then(encode));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(
      "The payload of job 'reminder.send' cannot be encoded by codec 'mine': the key is missing.",
    );
    expect(error.cause).toBe(FAILURE);
    expect(error.findings).toEqual([{ path: '', messages: [expect.stringContaining('the key is missing')] }]);
    expect(error).toMatchObject({ ...FIELDS, code: 'INVALID_PAYLOAD' });
  });

  it('keeps the findings of a codec that says where the payload is wrong', () => {
    const findings = [{ path: 'a.b', messages: ['is a Promise'] }];
    const encode = () => {
      throw new InvalidPayloadError("'a.b' is a Promise", findings);
    };
    expect(thrown<InvalidPayloadError>(() => codecs({ encode }).encode({}, MOST, FIELDS)).findings).toEqual(findings);
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [7, '7'],
    [{ length: 1 }, 'an object'],
    [[1, 2], 'an array of 2'],
    [new ArrayBuffer(2), 'an ArrayBuffer'],
    [new Uint16Array(2), 'a Uint16Array'],
  ])('refuses a codec that answers %p', (answer, shown) => {
    const error = thrown(() => encodedAs(answer));
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(
      `The payload of job 'reminder.send' was encoded by codec 'mine' as ${shown}, expected a string or a Uint8Array.`,
    );
  });

  it.each([
    ['text', 'ä'.repeat(MOST / 2), 'ä'.repeat(MOST / 2 + 1), MOST + 2],
    ['bytes', new Uint8Array(MOST), new Uint8Array(MOST + 1), MOST + 1],
  ])('bounds the bytes of %s that is stored', (_, fits, large, bytes) => {
    expect(encodedAs(fits)).toMatchObject({ codec: 'mine' });
    const error = thrown<PayloadTooLargeError>(() => encodedAs(large));
    expect(error).toBeInstanceOf(PayloadTooLargeError);
    expect(error).toMatchObject({ ...FIELDS, bytes, maxBytes: MOST });
  });

  it('bounds them where a promise brings them, too', async () => {
    expect(await rejected(Promise.resolve(encodedAs(Promise.resolve('x'.repeat(11)))))).toBeInstanceOf(
      PayloadTooLargeError,
    );
  });
});

describe('decoding', () => {
  it('gives a codec what it answered, and hands on what it makes of that', () => {
    const bytes = Buffer.from([255]);
    const seen: unknown[] = [];
    const mine = codecs({ decode: (stored) => seen.push(stored) });
    expect(mine.decode({ codec: 'mine', payload: 'text' }, JOB)).toBe(1);
    expect(mine.decode({ codec: 'mine', payload: bytes }, JOB)).toBe(2);
    expect(seen).toEqual(['text', bytes]);
  });

  it('reads JSON where no codec is named, whatever codec it writes with', () => {
    expect(codecs({}).decode({ payload: '{"a":1}' }, JOB)).toEqual({ a: 1 });
    expect(codecs({}).decode({ payload: '' }, JOB)).toBeUndefined();
    expect(new Codecs().decode({ payload: '[1]' }, JOB)).toEqual([1]);
    expect(thrown(() => new Codecs().decode({ payload: '{' }, JOB))).toBeInstanceOf(SyntaxError);
  });

  it('hands on what a codec throws or rejects with', async () => {
    const stored = { codec: 'mine', payload: '' };
    expect(thrown(() => codecs({ decode: fails }).decode(stored, JOB))).toBe(FAILURE);
    const rejection = codecs({ decode: async () => fails() }).decode(stored, JOB) as Promise<unknown>;
    expect(await rejected(rejection)).toBe(FAILURE);
  });

  it('throws what a promise throws when it is looked at', () => {
    const decode = () => thrower();
    expect(thrown(() => codecs({ decode }).decode({ codec: 'mine', payload: '' }, JOB))).toBe(FAILURE);
  });

  it('makes a promise of another library one of its own', async () => {
    const decode = () => ({ then: (resolve: (payload: string) => void) => resolve('foreign') });
    const decoded = codecs({ decode }).decode({ codec: 'mine', payload: '' }, JOB);
    expect(decoded).toBeInstanceOf(Promise);
    expect(await decoded).toBe('foreign');
  });

  it('gives up a promise that is not settled in time, and answers the rest at once', async () => {
    const decode = (stored: unknown) => (stored === 'never' ? never() : stored);
    const mine = new Codecs(new Map([['mine', { id: 'mine', encode: never, decode }]]), undefined, 20);
    expect(mine.decode({ codec: 'mine', payload: 'at once' }, JOB)).toBe('at once');
    const error = await rejected(mine.decode({ codec: 'mine', payload: 'never' }, JOB) as Promise<unknown>);
    expect(error.message).toBe("Codec 'mine' has not answered within commandTimeoutMs (20 ms)");
  });

  it('names a codec that it does not know, and the option', () => {
    const error = thrown<UnknownCodecError>(() => codecs({}).decode({ codec: 'other', payload: '' }, JOB));
    expect(error).toBeInstanceOf(UnknownCodecError);
    expect(error).toMatchObject({ ...FIELDS, code: 'UNKNOWN_CODEC', codec: 'other' });
    expect(error.message).toBe(
      "The payload of job 'reminder.send' was stored by codec 'other', which this process does not know: add that codec to the module's option codecs.",
    );
  });
});

it('says whether it writes and reads anything but JSON', () => {
  expect([new Codecs().encodes, new Codecs().decodes]).toEqual([false, false]);
  expect([codecs({}).encodes, codecs({}).decodes]).toEqual([true, true]);
  const reading = new Codecs(new Map([['a', {} as PayloadCodec]]));
  expect([reading.encodes, reading.decodes]).toEqual([false, true]);
});

const FAILURE = new Error('the key is missing');

/** What throws as soon as somebody asks whether it is a promise. */
const thrower = () => Object.defineProperty({}, 'then', { get: fails });

const never = (): Promise<never> => new Promise(() => {});

function fails(): never {
  throw FAILURE;
}

import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { codecsById, type PayloadCodec, payloadCodec, payloadCodecs } from '../../../../lib/core/payload/codec.js';
import { thrown } from '../../thrown.js';

const codec = (id: string): PayloadCodec => ({ id, encode: () => '', decode: () => undefined });

describe('the option codec', () => {
  it('takes a plain object', () => {
    const aes = codec('aes-256.gcm_v2');
    expect(payloadCodec(aes)).toEqual({ value: aes });
  });

  it('takes an instance of a class, such as an injected service', () => {
    class Vault {
      readonly id = 'vault';
      encode = () => '';
      decode(stored: string) {
        return stored;
      }
    }
    const vault = new Vault();
    expect(payloadCodec(vault)).toEqual({ value: vault });
  });

  it.each([
    [undefined, 'got undefined, expected a codec: { id, encode(payload), decode(stored) }'],
    [null, 'got null, expected a codec: { id, encode(payload), decode(stored) }'],
    ['msgpack', 'got "msgpack", expected a codec: { id, encode(payload), decode(stored) }'],
    [[codec('a')], 'got an array of 1, expected a codec: { id, encode(payload), decode(stored) }'],
    [class Vault {}, "got the function 'Vault', expected a codec: { id, encode(payload), decode(stored) }"],
    [{ ...codec('a'), id: undefined }, 'id: got undefined, expected 1 to 64 of the characters A-Z a-z 0-9 . _ -, a'],
    [codec(''), 'id: got "", expected 1 to 64'],
    [codec('a b'), 'id: got "a b", expected 1 to 64'],
    [codec('a\nb'), 'id: got "a\\nb", expected 1 to 64'],
    [codec('a{'), 'id: got "a{", expected 1 to 64'],
    [codec('x'.repeat(65)), 'expected 1 to 64'],
    [codec('json'), "id: got 'json', expected another one: jobs without a codec are stored as json"],
    [{ ...codec('a'), encode: undefined }, 'encode: got undefined, expected a function'],
    [{ ...codec('a'), decode: 'x' }, 'decode: got "x", expected a function'],
  ])('refuses %j, and says why', (value, problem) => {
    expect(payloadCodec(value)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('the option codecs', () => {
  it('takes a list, which may change later without effect', () => {
    const list = [codec('a'), codec('b')];
    const read = payloadCodecs(list) as { value: PayloadCodec[] };
    expect(read.value).toEqual(list);
    expect(read.value).not.toBe(list);
  });

  it.each([
    [codec('a'), 'got an object, expected an array of codecs'],
    [[codec('a'), codec('json')], "[1]: id: got 'json', expected another one"],
    [[undefined], '[0]: got undefined, expected a codec'],
  ])('refuses %j, and says why', (value, problem) => {
    expect(payloadCodecs(value)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('may name the same codec twice, and never two of one id', () => {
    const [a, b] = [codec('a'), codec('b')];
    expect([...codecsById([a, b, a], 'Module').keys()]).toEqual(['a', 'b']);
    const error = thrown(() => codecsById([a, codec('a')], 'Module'));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toBe(
      "Module: codecs: got two codecs with the id 'a', expected an id for each: what is stored names its codec by its id.",
    );
  });
});

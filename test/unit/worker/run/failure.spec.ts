import { describe, expect, it } from '@jest/globals';
import { toFailure } from '../../../../lib/worker/run/settlement-builder.js';

const looped = new Error('outer');
looped.cause = new Error('inner', { cause: looped });

const manyLines = new Error('short');
manyLines.stack = ['Error: short', ...Array.from({ length: 1_000 }, (_, i) => `    at place ${i}`)].join('\n');

const revoked = Proxy.revocable({}, {});
revoked.revoke();

const hostileStack = Object.defineProperty(new Error('m'), 'stack', {
  get: () => {
    throw new Error('gotcha');
  },
});

describe('whatever a handler throws is kept as a few short lines:', () => {
  it.each<[string, unknown, object]>([
    ['a message of a megabyte', new Error('x'.repeat(2 ** 20)), { name: 'Error', message: 'x'.repeat(1_000) }],
    ['text of a megabyte', 'y'.repeat(2 ** 20), { name: 'string', message: 'y'.repeat(1_000) }],
    ['a cause that leads back to itself', looped, { name: 'Error', message: 'outer' }],
    [
      'a stack of a thousand lines',
      manyLines,
      { stack: ['Error: short', ...Array.from({ length: 5 }, (_, i) => `    at place ${i}`)].join('\n') },
    ],
    ['a message that is no text', { message: { deep: 1 } }, { name: 'Error', message: '[object Object]' }],
    ['a message that is a symbol', { message: Symbol('s') }, { message: 'Symbol(s)' }],
    ['no message', Object.assign(new Error(), { message: undefined, name: '' }), { name: 'Error', message: '' }],
    ['undefined', undefined, { name: 'undefined', message: 'undefined' }],
    ['a function', () => {}, { name: 'function' }],
    ['a proxy that has been revoked', revoked.proxy, { message: 'what was thrown could not be read' }],
    ['a stack that throws when it is read', hostileStack, { message: 'what was thrown could not be read' }],
  ])('%s', (_, thrown, expected) => {
    const failure = toFailure(thrown, 'unrecoverable');
    expect(failure).toMatchObject({ ...expected, reason: 'unrecoverable' });
    const line = JSON.stringify(failure);
    expect(line.length).toBeLessThan(8_192);
    expect(line).not.toContain('\n');
  });
});

describe('what a stranger wrote into an error forges no line:', () => {
  it('a message is kept as one line', () => {
    expect(toFailure(new Error('boom\n[Nest] LOG admin\u001b[31m\u2028')).message).toBe(
      String.raw`boom\n[Nest] LOG admin\u001b[31m\u2028`,
    );
    expect(toFailure('boom\r\nforged').message).toBe(String.raw`boom\r\nforged`);
  });

  it('a name is kept as one line', () => {
    expect(toFailure(Object.assign(new Error('m'), { name: 'a\nb' })).name).toBe(String.raw`a\nb`);
  });

  it('a stack keeps its message as one line, and then only lines that say a place', () => {
    const error = new Error('boom\n[Nest] LOG admin');
    const [first, ...places] = toFailure(error).stack!.split('\n');
    expect(first).toBe(String.raw`Error: boom\n[Nest] LOG admin`);
    expect(places.length).toBe(5);
    error.stack = 'Error: boom\nforged\n    at here\r (x.ts:1)\nforged as well\n    at there';
    expect(toFailure(error).stack).toBe('Error: boom\\nforged\n    at here\\r (x.ts:1)\n    at there');
    error.stack = 'one\ntwo';
    expect(toFailure(error).stack).toBe(String.raw`one\ntwo`);
  });
});

import { describe, expect, it } from '@jest/globals';
import { toFailure } from '../../../lib/worker/failure.js';

const looped = new Error('outer');
looped.cause = new Error('inner', { cause: looped });

const manyLines = new Error('short');
manyLines.stack = Array.from({ length: 1_000 }, (_, i) => `at line ${i}`).join('\n');

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
      { stack: Array.from({ length: 6 }, (_, i) => `at line ${i}`).join('\n') },
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

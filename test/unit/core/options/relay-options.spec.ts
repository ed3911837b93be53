import { expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { readRelay } from '../../../../lib/core/options/relay-options.js';
import { thrown } from '../../thrown.js';

it('a relay of which only the target is said takes a hundred jobs of any name a step from the default queue', () => {
  const read = { queue: 'default', names: undefined, batch: 100 };
  expect(readRelay({ to: { list: 'l' } })).toEqual({ ...read, target: { type: 'list', key: 'l' } });
  expect(readRelay({ to: { stream: 's' }, maxLength: 9 })).toEqual({
    ...read,
    target: { type: 'stream', key: 's', maxLength: 9 },
  });
});

it.each([
  [undefined, 'relay: to: got none, expected { stream: key } or { list: key }.'],
  [{ to: 'l' }, 'relay: to: got "l", expected { stream: key } or { list: key }.'],
  [{ to: {} }, 'relay: to: got neither, expected { stream: key } or { list: key }.'],
  [{ to: { stream: 's', list: 'l' } }, 'relay: to: got both, expected { stream: key } or { list: key }.'],
  [{ to: { list: '' } }, 'relay: to: list: got "", expected 1 to 512 printable characters.'],
  [{ to: { set: 's' } }, 'relay: to: unknown option "set", known are stream, list.'],
  [{ to: { list: 'l' }, batch: 0 }, 'relay: batch: got 0, expected a whole number from 1 to 1000.'],
  [{ to: { stream: 's' }, maxLength: 0 }, 'relay: maxLength: got 0, expected a whole number of at least 1.'],
  [
    { to: { list: 'l' }, maxLength: 5 },
    'relay: maxLength: got 5 for a list, expected it for a stream only: what a list holds is yet to be done.',
  ],
  [{ to: { list: 'l' }, name: 'x' }, `relay: unknown option "name", did you mean 'names'?`],
])('a relay that is told %j is refused', (options, message) => {
  const refused = thrown<InvalidOptionsError>(() => readRelay(options));
  expect(refused).toBeInstanceOf(InvalidOptionsError);
  expect(refused.message).toBe(message);
});

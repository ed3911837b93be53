import { expect, it } from '@jest/globals';
import { occurrenceId, readOccurrenceId, recurrenceOf } from '../../../../lib/core/job/occurrence-id.js';

const AT = 1_800_000_000_000;

it.each(['digest', 'digest/7', 'a@b.c', 'a@1', '@'])(
  'the id of an occurrence of %s tells the recurrence and the instant',
  (id) => {
    expect(readOccurrenceId(occurrenceId(id, AT))).toEqual({ recurrenceId: id, atMs: AT });
  },
);

it.each([
  'digest',
  'digest@',
  '@1',
  'digest@1x',
  'digest@-1',
  'digest@1.5',
  'digest@12345678901234567',
  'ada@example.com',
])('%s is no id of an occurrence', (id) => {
  expect(readOccurrenceId(id)).toBeUndefined();
});

it('only a job that is stored as an occurrence tells of its recurrence, whatever its id looks like', () => {
  expect(recurrenceOf(`digest@${AT}`, undefined)).toBeUndefined();
  expect(recurrenceOf(`digest@${AT}`, { isMissed: true })).toEqual({ id: 'digest', at: new Date(AT), missed: true });
});

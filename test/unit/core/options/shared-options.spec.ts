import { expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import { settingsOfShared, sharedOptions } from '../../../../lib/core/options/shared-options.js';

it.each([
  [{}],
  [{ groups: { concurrency: 2 } }],
  [{ groups: { rateLimit: { max: 5, perMs: 1_000 } } }],
  [{ groups: { order: 'fifo' } }],
  [{ keepEnded: 5 }],
  [{ keepEnded: { ageMs: 1_000 } }],
  [{ rateLimit: { max: 5, perMs: 1_000 }, globalConcurrency: 3, keepDead: { ageMs: 5 } }],
] as const)('the options %j of a worker are read from what it tells, as JSON', (options) => {
  const settings = readQueueOptions('mail', options);
  expect(settingsOfShared(JSON.parse(JSON.stringify(sharedOptions(settings, 'json'))))).toEqual(settings);
});

it('a worker tells nothing of discarded and cancelled jobs where it keeps none', () => {
  expect(sharedOptions(readQueueOptions('mail', {}), 'json')).not.toHaveProperty('keepEnded');
});

it('a worker tells nothing of groups where nothing holds for each of them', () => {
  for (const groups of [undefined, {}, { order: 'due' as const }])
    expect(sharedOptions(readQueueOptions('mail', { groups }), 'json')).not.toHaveProperty('groups');
});

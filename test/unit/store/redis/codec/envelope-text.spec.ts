import { describe, expect, it } from '@jest/globals';
import type { Envelope } from '../../../../../lib/store/envelope.js';
import {
  decodeEnvelope,
  encodeFlags,
  encodeRoute,
  encodeSettings,
  onLateOf,
} from '../../../../../lib/store/redis/codec/envelope-text.js';

/** As schedule.lua puts it together: the time of its creation is Redis' own. */
function encode(job: Envelope): string {
  const flags = encodeFlags(job.idWasChosen, job.tags);
  return `${encodeRoute(job)}\n${job.createdAtMs} ${flags}${encodeSettings(job.settings)}\n${job.payload}`;
}

const PLAIN: Envelope = {
  name: 'mail.send',
  priority: 5,
  createdAtMs: 1_795_264_480_496,
  idWasChosen: false,
  tags: [],
  settings: {},
  payload: '{"user":7}',
};

describe('an envelope', () => {
  it.each<[string, Partial<Envelope>]>([
    ['a plain job', {}],
    ['a job that prefers a worker', { worker: 'w-1' }],
    ['the lowest priority', { priority: 1_000 }],
    ['a name with colons and spaces', { name: 'a: b:c', worker: 'w' }],
    ['a name that begins with a letter and a number', { name: 'd5 1::x' }],
    ['a chosen id', { idWasChosen: true }],
    ['tags', { tags: ['user:7', 'two words', 'c'] }],
    ['tags and a chosen id', { tags: ['c', ' '], idWasChosen: true }],
    ['a late rule that runs', { lateness: { maxLatenessMs: 0, onLate: 'run' } }],
    ['one that discards', { lateness: { maxLatenessMs: 86_400_000, onLate: 'discard' } }],
    ['one that ends dead', { worker: 'w', lateness: { maxLatenessMs: 5, onLate: 'dead-letter' } }],
    ['settings of the call', { settings: { maxAttempts: 3, timeoutMs: 0 } }],
    [
      'a backoff and headers',
      {
        settings: {
          backoff: { type: 'exponential', delayMs: 100, maxDelayMs: 2_000, jitter: 0.5 },
          headers: { trace: 'a"b\n\tc' },
        },
      },
    ],
    ['no payload', { payload: '' }],
    ['a payload of many lines', { payload: '\n5::other\n0 \n\n"\u2028"\n' }],
  ])('of %s is read as it was written', (_what, differs) => {
    const job = { ...PLAIN, ...differs };
    expect(decodeEnvelope(encode(job))).toEqual(job);
  });

  it('carries nothing where the call itself said nothing', () => {
    expect(encodeSettings({})).toBe('');
    expect(encodeSettings({ maxAttempts: undefined, headers: undefined })).toBe('');
  });

  it('ends its settings with the headers, which relays cut out as text', () => {
    const text = encodeSettings({ headers: { a: '{"}' }, timeoutMs: 5, maxAttempts: 2 });
    expect(text.match(/"headers":(\{.*\})\}$/)?.[1]).toBe('{"a":"{\\"}"}');
  });

  it.each(['run', 'discard', 'dead-letter'] as const)('names the late rule %s by a letter of its own', (onLate) => {
    const head = encodeRoute({ ...PLAIN, lateness: { maxLatenessMs: 7, onLate } });
    expect(onLateOf(head[0]!)).toBe(onLate);
  });

  it.each([
    ['fewer than four parts', '5::work\n0 \n'],
    ['fewer than four parts', ''],
    ['not valid JSON', '5::work\n0 \n{"headers":{"secret"\nnull'],
    ['no number', '5::work\n0 \n{"maxAttempts":"many"}\nnull'],
    ['no number', '5::work\n0 \n{"backoff":{"type":"fixed"}}\nnull'],
    ['no number', '5::work\n0 \n{"backoff":null}\nnull'],
    ['no number', '5::work\n0 \nnull\nnull'],
  ])('that is damaged says so and tells nothing of what it holds: %s', (problem, text) => {
    const envelope = decodeEnvelope(text);
    expect(envelope).toEqual({ unreadable: expect.stringContaining(problem) });
    expect(JSON.stringify(envelope)).not.toContain('secret');
  });
});

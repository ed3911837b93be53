import { describe, expect, it } from '@jest/globals';
import {
  decodeEnvelope,
  type Envelope,
  encodeFlags,
  encodeRoute,
  encodeSettings,
  onLateOf,
} from '../../../lib/store/envelope.js';

/** As schedule.lua puts it together: the time of its creation is Redis' own. */
function encode(job: Omit<Envelope, 'lane'>): string {
  const flags = encodeFlags(job.idWasChosen, job.tags);
  return `${encodeRoute(job)}\n${job.createdAtMs} ${flags}${encodeSettings(job.settings)}\n${job.payload}`;
}

const PLAIN: Omit<Envelope, 'lane'> = {
  name: 'mail.send',
  priority: 5,
  createdAtMs: 1_795_264_480_496,
  idWasChosen: false,
  tags: [],
  settings: {},
  payload: '{"user":7}',
};

describe('an envelope', () => {
  it.each<[string, Partial<Envelope>, string]>([
    ['a plain job', {}, '5::mail.send'],
    ['a job that prefers a worker', { worker: 'w-1' }, '5:w-1:mail.send'],
    ['the lowest priority', { priority: 1_000 }, '1000::mail.send'],
    ['a name with colons and spaces', { name: 'a: b:c', worker: 'w' }, '5:w:a: b:c'],
    ['a name that begins with a letter and a number', { name: 'd5 1::x' }, '5::d5 1::x'],
    ['a chosen id', { idWasChosen: true }, '5::mail.send'],
    ['tags', { tags: ['user:7', 'two words', 'c'] }, '5::mail.send'],
    ['tags and a chosen id', { tags: ['c', ' '], idWasChosen: true }, '5::mail.send'],
    ['a late rule that runs', { lateness: { maxLatenessMs: 0, onLate: 'run' } }, '5::mail.send'],
    ['one that discards', { lateness: { maxLatenessMs: 86_400_000, onLate: 'discard' } }, '5::mail.send'],
    ['one that ends dead', { worker: 'w', lateness: { maxLatenessMs: 5, onLate: 'dead-letter' } }, '5:w:mail.send'],
    ['settings of the call', { settings: { maxAttempts: 3, timeoutMs: 0 } }, '5::mail.send'],
    [
      'a backoff and headers',
      {
        settings: {
          backoff: { type: 'exponential', delayMs: 100, maxDelayMs: 2_000, jitter: 0.5 },
          headers: { trace: 'a"b\n\tc' },
        },
      },
      '5::mail.send',
    ],
    ['no payload', { payload: '' }, '5::mail.send'],
    ['a payload of many lines', { payload: '\n5::other\n0 \n\n"\u2028"\n' }, '5::mail.send'],
  ])('of %s is read as it was written', (_what, differs, lane) => {
    const job = { ...PLAIN, ...differs };
    expect(decodeEnvelope(encode(job))).toEqual({ ...job, lane });
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
  ])('that is damaged is refused: %s', (problem, text) => {
    expect(() => decodeEnvelope(text)).toThrow(problem);
    expect(() => decodeEnvelope(text)).not.toThrow('secret');
  });
});

import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError, InvalidScheduleError } from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { readSchedule } from '../../../../lib/core/options/schedule-options.js';
import { thrown } from '../../thrown.js';

const SIXTEEN = Array.from({ length: 16 }, (_, i) => `tag ${i}`);
const refused = (tags: unknown) => thrown<InvalidScheduleError>(() => readSchedule('ping', { tags } as never));

describe('the tags of a job', () => {
  it('are those of its definition and those of the call, each once', () => {
    const definition = defineScheduledJob('ping', { tags: ['a', 'b', 'a'] });
    expect(definition.settings.tags).toEqual(['a', 'b']);
    expect(readSchedule(definition, undefined).tags).toEqual(['a', 'b']);
    expect(readSchedule(definition, {}).tags).toEqual(['a', 'b']);
    expect(readSchedule(definition, { tags: ['c', 'a'] }).tags).toEqual(['a', 'b', 'c']);
    expect(readSchedule('ping', { tags: ['c'] }).tags).toEqual(['c']);
    expect(readSchedule('ping', { tags: [] }).tags).toEqual([]);
    expect(readSchedule('ping', {}).tags).toBeUndefined();
  });

  it('stay as they are when the caller changes them afterwards', () => {
    const tags = ['a'];
    const definition = defineScheduledJob('ping', { tags });
    const request = readSchedule('ping', { tags });
    tags.push('b');
    expect([definition.settings.tags, request.tags]).toEqual([['a'], ['a']]);
    expect(Object.isFrozen(definition.settings.tags)).toBe(true);
  });

  it.each(['a', 'x'.repeat(256), 'customer:7/trip', 'two words', 'größe', '🚀', '{a}'])('may be %p', (tag) => {
    expect(readSchedule('ping', { tags: [tag] }).tags).toEqual([tag]);
  });

  it.each<[unknown, string]>([
    ['vip', 'tags: got "vip", expected an array of tags.'],
    [null, 'tags: got null, expected an array of tags.'],
    [new Set(['vip']), 'tags: got a Set, expected an array of tags.'],
    [['a', ''], 'tags: tag 1: got "", expected 1 to 256 printable characters.'],
    [['x'.repeat(257)], 'characters), expected 1 to 256 printable characters.'],
    [[7], 'tags: tag 0: got 7, expected 1 to 256 printable characters.'],
    [['a\tb'], 'expected 1 to 256 printable characters.'],
    [['a\nb'], 'expected 1 to 256 printable characters.'],
    // biome-ignore lint/suspicious/noSparseArray: a caller may leave a hole
    [['a', , 'b'], 'tags: tag 1: got undefined, expected 1 to 256 printable characters.'],
    [[...SIXTEEN, 'one more'], 'tags: got 17 tags, expected at most 16.'],
  ])('are not %p', (tags, message) => {
    expect(refused(tags)).toBeInstanceOf(InvalidScheduleError);
    expect(refused(tags).message).toContain(message);
  });

  it('are at most 16, with those of the definition', () => {
    const definition = defineScheduledJob('ping', { tags: SIXTEEN });
    expect(readSchedule(definition, { tags: ['tag 7'] }).tags).toEqual(SIXTEEN);
    const error = thrown<InvalidScheduleError>(() => readSchedule(definition, { tags: ['one more'] }));
    expect(error.message).toBe("schedule('ping'): tags, with the definition's: got 17 tags, expected at most 16.");
    expect(thrown(() => defineScheduledJob('ping', { tags: 'a' as never }))).toBeInstanceOf(InvalidOptionsError);
  });
});

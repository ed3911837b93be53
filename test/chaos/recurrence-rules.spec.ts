import { describe, expect, it } from '@jest/globals';
import { Story } from './story.js';

const NOTHING = new Set<string>();
const only = (...rules: string[]) => new Set(rules);
/** One of each second, in the queue that keeps what completed, and one with jitter; one of every 600 ms that is paused, and one of every 800 ms of which one waits for the other. */
const CRON = 'recurs:cron';
const JITTERED = 'recurs:jitter';
const PAUSED = 'recurs:paused';
const QUEUEING = 'recurs:one-by-one';
const CANCELLED = 'recurs:cancelled';

const upserted = (recurrence = CRON, mono = 500) =>
  new Story().recurrenceCall(mono, 'upsert', recurrence, { changed: true });
const ran = (story: Story, recurrence: string, ...instants: number[]) => {
  for (const at of instants) story.occurrence(recurrence, at);
  return story;
};

describe('finds nothing wrong', () => {
  it('in one job an instant, be it made up for, and in equal upserts', () => {
    const story = ran(upserted(), CRON, 1_000, 2_000).fault(2_900, 4_500, 'redis');
    story.occurrence(CRON, 3_000, { claimedAt: 4_600, missed: true });
    story.occurrence(CRON, 4_000, { claimedAt: 4_610 });
    expect(story.recurrenceCall(3_500, 'upsert', CRON, { changed: false }).endsAsRan()).toEqual(NOTHING);
  });

  it('in jitter, and in one with jitter that is made up for at its nominal instant', () => {
    const story = upserted(JITTERED).occurrence(JITTERED, 1_000, { dueAt: 1_650 }).fault(1_900, 4_500, 'redis');
    story.occurrence(JITTERED, 2_000, { claimedAt: 4_600, missed: true });
    expect(story.ends()).toEqual(NOTHING);
  });

  it('in one that was upserted before another upsert was answered', () => {
    const story = new Story()
      .recurrenceCall(500, 'upsert', CRON)
      .recurrenceCall(3_100, 'upsert', CRON, { changed: false });
    expect(ran(story, CRON, 1_000, 2_000, 3_000, 4_000).endsAsRan()).toEqual(NOTHING);
  });

  it('in an occurrence that waited until the instant behind it was computed', () => {
    expect(ran(upserted().occurrence(CRON, 1_000, { dueAt: 1_135 }), CRON, 2_000).endsAsRan()).toEqual(NOTHING);
  });

  it('in an occurrence that was delivered twice', () => {
    const story = upserted().fault(990, 2_000, 'w1.1');
    story.occurrence(CRON, 1_000, { how: 'fail' });
    story.occurrence(CRON, 1_000, { dueAt: 1_157, claimedAt: 1_158, attempt: 2 });
    expect(ran(story, CRON, 2_000).endsAsRan()).toEqual(NOTHING);
  });

  it('in instants left out while it was paused, and in one that ran now meanwhile', () => {
    const story = ran(upserted(PAUSED, 0), PAUSED, 600, 1_200).recurrenceCall(1_300, 'pause', PAUSED, {
      changed: true,
    });
    story.recurrenceCall(2_000, 'runNow', PAUSED, { id: `${PAUSED}@1800000002001` }).occurrence(PAUSED, 2_001);
    story.recurrenceCall(3_100, 'resume', PAUSED, { changed: true });
    expect(ran(story, PAUSED, 3_600, 4_200).ends()).toEqual(NOTHING);
  });

  it('in an instant whose job was cancelled', () => {
    const story = ran(upserted(CANCELLED, 100), CANCELLED, 400, 1_100);
    const id = `${CANCELLED}@1800000001800`;
    story.call(1_200, { operation: 'cancel', token: id, id, queue: 'kept', payload: undefined }, { changed: true });
    const ended = ran(story, CANCELLED, 2_500).endsAsRan(1);
    expect(ended).toEqual(NOTHING);
  });

  it('in a queueing one whose occurrences waited for each other, and of which one was left out', () => {
    const story = upserted(QUEUEING, 100).occurrence(QUEUEING, 800, { tookMs: 2_000 });
    story.occurrence(QUEUEING, 2_400, { dueAt: 2_810 });
    expect(story.endsAsRan()).toEqual(NOTHING);
  });
});

describe('finds what is wrong', () => {
  it('an instant that was left out, the first one too', () => {
    expect(ran(upserted(), CRON, 1_000, 3_000).endsAsRan()).toEqual(only('one-job-an-instant'));
    expect(ran(upserted(), CRON, 2_000, 3_000).endsAsRan()).toEqual(only('one-job-an-instant'));
  });

  it('an instant that was left out while it was not paused', () => {
    const story = ran(upserted(PAUSED, 0), PAUSED, 600, 1_800).recurrenceCall(2_000, 'pause', PAUSED, {
      changed: true,
    });
    story.recurrenceCall(2_500, 'resume', PAUSED, { changed: true });
    expect(ran(story, PAUSED, 3_000).ends()).toEqual(only('one-job-an-instant'));
  });

  it('an instant of which two jobs ran', () => {
    const story = ran(upserted(), CRON, 1_000, 2_000).occurrence(CRON, 1_000, { claimedAt: 1_500 });
    expect(story.endsAsRan()).toContain('one-job-an-instant');
  });

  it('an occurrence that is none of its rule, or says that it is another', () => {
    expect(ran(upserted(), CRON, 1_000, 1_500, 2_000).endsAsRan()).toEqual(only('recurs-as-asked'));
    expect(upserted().occurrence(CRON, 1_000, { says: 2_000 }).endsAsRan()).toEqual(only('recurs-as-asked'));
  });

  it('an occurrence before the first upsert, and one of a paused time', () => {
    expect(ran(upserted(CRON, 1_500), CRON, 1_000, 2_000).endsAsRan()).toEqual(only('recurs-as-asked'));
    const story = ran(upserted(PAUSED, 0), PAUSED, 600).recurrenceCall(700, 'pause', PAUSED, { changed: true });
    expect(ran(story, PAUSED, 1_200).ends()).toEqual(only('recurs-as-asked'));
  });

  it('an occurrence that is due when it should not be, or counts as missed too early', () => {
    expect(upserted().occurrence(CRON, 1_000, { dueAt: 1_099 }).endsAsRan()).toEqual(only('recurs-as-asked'));
    expect(upserted().occurrence(CRON, 1_000, { missed: true }).endsAsRan()).toEqual(only('recurs-as-asked'));
  });

  it('an occurrence that is due after its jitter, or is made up for later than at its nominal instant', () => {
    const late = upserted(JITTERED).occurrence(JITTERED, 1_000, { dueAt: 1_750 });
    expect(late.ends()).toEqual(only('recurs-as-asked'));
    const story = upserted(JITTERED).occurrence(JITTERED, 1_000).fault(1_900, 4_500, 'redis');
    story.occurrence(JITTERED, 2_000, { dueAt: 2_650, claimedAt: 4_600, missed: true });
    expect(story.ends()).toEqual(only('recurs-as-asked'));
  });

  it('two upserts that each created it, and a runNow whose occurrence never ran', () => {
    const twice = upserted().recurrenceCall(600, 'upsert', CRON, { changed: true });
    expect(ran(twice, CRON, 1_000).endsAsRan()).toEqual(only('recurs-as-asked'));
    const never = upserted(PAUSED, 0).recurrenceCall(700, 'runNow', PAUSED, { id: `${PAUSED}@1800000000701` });
    expect(never.ends()).toEqual(only('recurs-as-asked'));
  });

  it('a recurrence that is there no more', () => {
    const gone = { outcome: 'refused', isUnknown: true } as const;
    const story = ran(upserted(PAUSED, 300), PAUSED, 600, 1_200).recurrenceCall(700, 'runNow', PAUSED, gone);
    expect(story.ends()).toEqual(only('recurs-as-asked'));
    const before = ran(upserted(PAUSED, 300), PAUSED, 600, 1_200).recurrenceCall(100, 'runNow', PAUSED, gone);
    expect(before.ends()).toEqual(NOTHING);
  });

  it('an occurrence that begins before the previous one has ended, or before its retry', () => {
    const story = upserted(QUEUEING, 100).occurrence(QUEUEING, 800, { tookMs: 2_000 });
    expect(story.occurrence(QUEUEING, 1_600).endsAsRan()).toEqual(only('one-after-the-other'));
    const retried = upserted(QUEUEING, 100).occurrence(QUEUEING, 800, { how: 'fail', tookMs: 750 });
    retried.occurrence(QUEUEING, 1_600);
    retried.occurrence(QUEUEING, 800, { attempt: 2, dueAt: 1_710 });
    expect(retried.endsAsRan()).toEqual(only('one-after-the-other'));
  });

  it('a recurrence that has stopped', () => {
    const story = ran(upserted(), CRON, 1_000, 2_000);
    story.add(28_000, 'p1.1', { type: 'recurred', recurrence: CRON, from: 13_000, done: false });
    expect(story.endsAsRan()).toEqual(only('recurs-again'));
  });
});

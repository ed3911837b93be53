import { describe, expect, it } from '@jest/globals';
import { BACKOFF_MS, LEASE_MS, MAX_LATENESS_MS } from './settings.js';
import { death, KEPT, OFFSET, Story } from './story.js';

const NOTHING = new Set<string>();
const only = (...rules: string[]) => new Set(rules);

describe('finds nothing wrong', () => {
  it('in a job that ran when it was due', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 }).end(510, 501).told(512, 'completed');
    expect(story.endsCompleted(501)).toEqual(NOTHING);
  });

  it('in a job that failed, waited and succeeded', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 }).end(510, 501, 'fail').told(512, 'failed');
    const due = 511 + BACKOFF_MS;
    story
      .start(due + 3, { dueAt: due, attempt: 2 })
      .end(due + 5, due + 3)
      .told(due + 6, 'completed', 2);
    expect(story.endsCompleted(due + 3)).toEqual(NOTHING);
  });

  it('in a job that snoozed, and then lost its leases before a run of it was seen', () => {
    const story = new Story().scheduled(100, 500, 'snoozing').start(501, { dueAt: 500, kind: 'snoozing' });
    story.end(502, 501, 'snooze').told(503, 'snoozed');
    expect(story.ends({ dead: [death({})], stats: { snoozed: 1 } })).toEqual(NOTHING);
  });

  it('in a job that the worker that ran it found to be dead as crashed', () => {
    const story = new Story().scheduled(100, 500, 'slow');
    const last = 501 + 2 * LEASE_MS;
    for (const attempt of [1, 2, 3]) story.start(501 + (attempt - 1) * LEASE_MS, { dueAt: 500, kind: 'slow', attempt });
    story
      .fault(510, last + LEASE_MS, 'w1.1')
      .end(last + 800, last)
      .toldDead(last + LEASE_MS + 1, 'crashed', 3);
    expect(story.endsDead('crashed', 3, 3, last + LEASE_MS)).toEqual(NOTHING);
  });

  it('in a job that was replaced after a run, and then lost its leases before a run of it was seen', () => {
    const story = new Story().scheduled(100, 500, 'flaky').start(501, { dueAt: 500, kind: 'flaky' });
    story.end(502, 501, 'fail').told(503, 'failed');
    story.call(510, { operation: 'replace' }, { status: 'replaced', dueAt: 600 });
    expect(story.endsDead('crashed', 3, 3)).toEqual(NOTHING);
  });

  it('in a job that was replaced while it ran, and whose change then ran', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 });
    const payload = { token: 'j', revision: 1, kind: 'quick' } as const;
    story.call(505, { operation: 'replace', payload }, { status: 'queued', dueAt: 506 });
    story
      .end(510, 501)
      .told(512, 'completed')
      .start(513, { dueAt: 506, revision: 1 })
      .end(520, 513)
      .told(522, 'completed');
    expect(story.endsCompleted(513, { scheduled: 2, completed: 2 })).toEqual(NOTHING);
  });

  it('in a job that was scheduled again after it had been cancelled', () => {
    const story = new Story().scheduled(100, 500).call(200, { operation: 'cancel' }, { changed: true });
    story.scheduled(300, 600).start(601, { dueAt: 600 }).end(610, 601).told(612, 'completed');
    expect(story.endsCompleted(601, { scheduled: 2, cancelled: 1 })).toEqual(NOTHING);
  });

  it('in a job that lost its lease to a handler that blocked its process until that was killed', () => {
    const again = 510 + LEASE_MS;
    const story = new Story().scheduled(100, 500, 'blocking').start(501, { dueAt: 500, kind: 'blocking' });
    story.start(again, { dueAt: 500, kind: 'blocking', attempt: 2, who: 'w2.1' }).end(again + 1, again, 'ok', 'w2.1');
    story.told(again + 2, 'completed', 2, 'w2.1');
    story.add(again + 50, 'w1.1', { type: 'exit', wanted: true, code: 'SIGKILL' });
    expect(story.endsCompleted(again)).toEqual(NOTHING);
  });

  it('in a process that took its time to leave because it was frozen', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 }).end(510, 501).told(512, 'completed');
    story.fault(20_000, 23_000, 'w1.1');
    expect(story.add(24_500, 'w1.1', { type: 'left', tookMs: 6_000 }).endsCompleted(501)).toEqual(NOTHING);
  });

  it('in a job that was cancelled while it ran, by two who both were told so', () => {
    const story = new Story().scheduled(100, 500, 'slow').start(501, { dueAt: 500, kind: 'slow' });
    for (const at of [600, 700]) story.call(at, { operation: 'cancelRunning' }, { changed: true });
    expect(story.end(800, 501).ends({ stats: { cancelled: 1 } })).toEqual(NOTHING);
  });

  it('in a job that nobody could begin in time', () => {
    const story = new Story().scheduled(100, 500, 'perishable');
    expect(story.endsDead('late', 0, 0, 501 + MAX_LATENESS_MS)).toEqual(NOTHING);
  });

  it('in a job of a frozen worker that another one ran', () => {
    const again = 501 + LEASE_MS;
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 }).fault(510, 4_000, 'w1.1');
    story.start(again, { dueAt: 500, attempt: 2, who: 'w2.1' }).end(again + 5, again, 'ok', 'w2.1');
    story
      .told(again + 7, 'completed', 2, 'w2.1')
      .end(4_010, 501)
      .told(4_012, 'leaseLost');
    expect(story.endsCompleted(again)).toEqual(NOTHING);
  });

  it('in a job that was cancelled in time, or moved and then run', () => {
    const cancelled = new Story().scheduled(100, 500).call(200, { operation: 'cancel' }, { changed: true });
    expect(cancelled.ends({ stats: { cancelled: 1 } })).toEqual(NOTHING);
    const moved = new Story().scheduled(100, 500);
    moved.call(200, { operation: 'reschedule', when: { at: OFFSET + 900 } }, { changed: true });
    moved.start(901, { dueAt: 900 }).end(902, 901).told(903, 'completed');
    expect(moved.endsCompleted(901)).toEqual(NOTHING);
  });
});

describe('finds what is wrong', () => {
  const ran = (story: Story) => story.start(501, { dueAt: 500 }).end(510, 501).told(512, 'completed');

  it('a run before its due time', () => {
    const story = new Story().scheduled(100, 500).start(450, { dueAt: 500 }).end(460, 450).told(461, 'completed');
    expect(story.endsCompleted(450)).toEqual(only('never-early'));
  });

  it('a run at a due time from which the job had been moved', () => {
    const story = new Story().scheduled(100, 500);
    story.call(200, { operation: 'reschedule', when: { at: OFFSET + 9_000 } }, { changed: true });
    expect(ran(story).endsCompleted(501)).toEqual(only('due-as-asked'));
  });

  it('a run after a cancel that said true', () => {
    const story = new Story().scheduled(100, 500).call(200, { operation: 'cancel' }, { changed: true });
    expect(ran(story).endsCompleted(501, { cancelled: 1, scheduled: 2 })).toContain('true-means-waiting');
  });

  it('a cancel that said true while a worker held the job', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 });
    story.call(600, { operation: 'cancel' }, { changed: true }).end(900, 501).told(901, 'leaseLost');
    expect(story.ends({ stats: { cancelled: 1 } })).toEqual(only('true-means-waiting'));
  });

  it('a job that was accepted and is nowhere', () => {
    expect(new Story().scheduled(100, 500).ends()).toContain('nothing-lost');
    expect(new Story().scheduled(100, 500).ends({ waiting: ['j'] })).toEqual(only('nothing-lost'));
  });

  it('a job that ended twice', () => {
    const story = ran(new Story().scheduled(100, 500)).told(700, 'discarded');
    expect(story.endsCompleted(501)).toContain('ends-once');
  });

  it('a job that ended as it must not', () => {
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 });
    expect(story.endsDead('envelope-missing')).toEqual(only('ends-as-it-must'));
  });

  it('a job that is dead as crashed before it lost the leases for that', () => {
    const story = new Story().scheduled(100, 500, 'failing').start(501, { dueAt: 500, kind: 'failing' });
    expect(story.endsDead('crashed', 1, 1)).toEqual(only('ends-as-it-must'));
    const other = new Story().scheduled(100, 500, 'failing').start(501, { dueAt: 500, kind: 'failing' });
    expect(other.endsDead('crashed', 3, 4)).toEqual(only('ends-as-it-must'));
  });

  it('a job that began too late, and one that died for that too early', () => {
    const began = 502 + MAX_LATENESS_MS;
    const story = new Story().scheduled(100, 500, 'perishable').start(began, { dueAt: 500, kind: 'perishable' });
    expect(
      story
        .end(began + 5, began)
        .told(began + 7, 'completed')
        .endsCompleted(began),
    ).toEqual(only('late-as-asked'));
    const other = new Story().scheduled(100, 500, 'perishable');
    expect(other.endsDead('late', 0, 0, 500 + MAX_LATENESS_MS)).toEqual(only('late-as-asked'));
  });

  it('a job that was cancelled while it ran, and completed or ran again', () => {
    const cancelled = () => {
      const story = new Story().scheduled(100, 500, 'slow').start(501, { dueAt: 500, kind: 'slow' });
      return story.call(600, { operation: 'cancelRunning' }, { changed: true });
    };
    const completed = cancelled().end(800, 501).told(802, 'completed');
    expect(completed.endsCompleted(501, { cancelled: 1, scheduled: 1 })).toContain('ends-once');
    const again = cancelled().end(800, 501, 'fail').told(802, 'failed');
    again.start(803 + BACKOFF_MS, { dueAt: 801 + BACKOFF_MS, attempt: 2, kind: 'slow' });
    expect(again.ends({ stats: { cancelled: 1 } })).toContain('true-means-running');
  });

  it('two calls that each made the job', () => {
    const story = ran(new Story().scheduled(100, 500).scheduled(300, 500));
    expect(story.endsCompleted(501)).toEqual(only('created-once'));
  });

  it('a job whose call was refused, and one that nobody scheduled', () => {
    expect(ran(new Story().call(100, {}, { outcome: 'refused' })).endsCompleted(501)).toContain('refused-is-nowhere');
    expect(ran(new Story()).endsCompleted(501)).toContain('nothing-unknown');
  });

  it('a run that began twice under one fence', () => {
    const story = ran(new Story().scheduled(100, 500)).start(501, { dueAt: 500, startedAt: 520 });
    expect(story.endsCompleted(501)).toContain('fences-grow');
  });

  it('a run under an outdated fence that settles', () => {
    const again = 501 + LEASE_MS;
    const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 }).fault(510, 2_100, 'w1.1');
    story.start(again, { dueAt: 500, attempt: 2, who: 'w2.1' }).end(2_110, 501).told(2_112, 'completed');
    expect(story.endsCompleted(501)).toEqual(only('outdated-settles-nothing'));
  });

  it('a run after the job has completed', () => {
    const again = 501 + LEASE_MS;
    const story = ran(new Story().scheduled(100, 500)).fault(505, 600, 'w1.1');
    story.start(again, { dueAt: 500, attempt: 2, who: 'w2.1' });
    expect(story.endsCompleted(501)).toEqual(only('outdated-settles-nothing'));
  });

  it('more attempts than the job may have', () => {
    const story = new Story().scheduled(100, 500, 'failing');
    for (const [i, at] of [500, 700, 900, 1_100].entries()) {
      story.start(at, { dueAt: i === 0 ? at : at - 10, attempt: i + 1, kind: 'failing' });
      story.end(at + 39, at, 'fail').told(at + 41, i < 3 ? 'failed' : 'dead', i + 1);
    }
    expect(story.endsDead('attempts-exhausted', 4)).toEqual(only('attempts-count', 'ends-as-it-must'));
  });

  it('a second run while the first one holds its lease, or that lost it for no reason', () => {
    for (const [again, rule] of [
      [900, 'reruns-have-reasons'],
      [510 + LEASE_MS, 'reruns-have-reasons'],
    ] as const) {
      const story = new Story().scheduled(100, 500).start(501, { dueAt: 500 });
      story.start(again, { dueAt: 500, attempt: 2, who: 'w2.1' }).end(again + 1, again, 'ok', 'w2.1');
      story.told(again + 2, 'completed', 2, 'w2.1');
      expect(story.endsCompleted(again)).toEqual(only(rule));
    }
  });

  it('counters that say something else', () => {
    const story = ran(new Story().scheduled(100, 500));
    expect(story.endsCompleted(501, { completed: 2, scheduled: 2 })).toEqual(only('counts-add-up'));
  });

  it('an index that is not true', () => {
    const story = ran(new Story().scheduled(100, 500));
    story.add(600, 'harness', { type: 'audit', queue: KEPT, problems: ['j is in lane 5::quick and dead'] });
    expect(story.endsCompleted(501)).toEqual(only('one-state'));
  });

  it('a queue that does not drain, and a worker that has gone quiet', () => {
    const done = () => ran(new Story().scheduled(100, 500));
    const undrained = done().add(28_000, 'harness', { type: 'drained', drained: false });
    expect(undrained.endsCompleted(501)).toEqual(only('everybody-lives'));
    const quiet = done().add(28_000, 'harness', { type: 'probe', worker: 'w2', from: 20_000, done: false });
    expect(quiet.endsCompleted(501)).toEqual(only('everybody-lives'));
  });

  it('a process that warns, dies or does not leave', () => {
    const done = () => ran(new Story().scheduled(100, 500));
    const warned = done().add(700, 'w1.1', { type: 'trouble', message: 'MaxListenersExceededWarning' });
    expect(warned.endsCompleted(501)).toEqual(only('nothing-untoward'));
    const died = done().add(700, 'w1.1', { type: 'exit', wanted: false, code: 1 });
    expect(died.endsCompleted(501)).toEqual(only('nothing-untoward'));
    expect(done().add(700, 'w1.1', { type: 'left', tookMs: 60_000 }).endsCompleted(501)).toEqual(
      only('leaves-in-time'),
    );
  });
});

it('a change of a running job that never ran is found, and one that was followed by another, or cancelled, is not', () => {
  const change = (story: Story, mono: number, revision: number) =>
    story.call(
      mono,
      { operation: 'replace', payload: { token: 'j', revision, kind: 'quick' } },
      { status: 'queued', dueAt: mono },
    );
  const ran = () => new Story().scheduled(100, 500).start(501, { dueAt: 500 }).end(600, 501).told(602, 'completed');
  expect(change(ran(), 510, 1).endsCompleted(501)).toEqual(only('last-change-runs'));
  const followed = change(change(ran(), 510, 1), 520, 2)
    .start(603, { dueAt: 522, revision: 2 })
    .end(610, 603);
  expect(followed.endsCompleted(603, { scheduled: 2, completed: 2 })).toEqual(NOTHING);
  const cancelled = change(ran(), 510, 1).call(520, { operation: 'cancel' }, { changed: true });
  expect(cancelled.endsCompleted(501, { scheduled: 2, cancelled: 1 })).toEqual(NOTHING);
});

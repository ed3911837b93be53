import { describe, expect, it } from '@jest/globals';
import { check } from './checker.js';
import type { Body, CallLine, FinalLine, Line, StartLine } from './history.js';
import { BACKOFF_MS, LEASE_MS, type QueueName } from './settings.js';
import { Timeline } from './timeline.js';

/** Redis' clock less the monotonic one, in the histories made here. */
const OFFSET = 1_800_000_000_000;
const KEPT: QueueName = 'kept';

/** A history made by hand. Instants are ms from the beginning. */
class Story {
  private readonly lines: Line[] = [];
  private calls = 0;

  constructor() {
    for (let mono = 0; mono <= 30_000; mono += 100)
      this.add(mono, 'harness', { type: 'clock', from: mono, time: OFFSET + mono });
  }

  add(mono: number, who: string, body: Body): this {
    this.lines.push({ ...body, who, mono });
    return this;
  }

  /** A call begun at an instant and answered 2 ms later. */
  call(
    mono: number,
    call: Partial<CallLine>,
    answer?: { changed?: boolean; dueAt?: number; outcome?: 'refused' },
  ): this {
    const number = ++this.calls;
    const payload = { token: 'j', revision: 0, kind: 'quick' } as const;
    const line = {
      type: 'call',
      operation: 'schedule',
      token: 'j',
      queue: KEPT,
      id: 'j',
      payload,
      ...call,
      call: number,
    } as const;
    this.add(mono, 'p1.1', line);
    if (!answer) return this;
    const { changed, dueAt, outcome = 'ok' } = answer;
    const instant = dueAt === undefined ? undefined : OFFSET + dueAt;
    return this.add(mono + 2, 'p1.1', { type: 'answer', call: number, token: 'j', outcome, changed, dueAt: instant });
  }

  scheduled(mono: number, dueAt: number, kind: StartLine['kind'] = 'quick'): this {
    const payload = { token: 'j', revision: 0, kind };
    return this.call(mono, { payload, when: { at: OFFSET + dueAt } }, { changed: true, dueAt });
  }

  /** A run claimed at an instant and begun 1 ms later. */
  start(claimedAt: number, run: Partial<StartLine> & { who?: string; startedAt?: number } = {}): this {
    const { who = 'w1.1', startedAt = claimedAt + 1, dueAt = claimedAt, kind = 'quick', ...rest } = run;
    const maxAttempts = kind === 'failing' ? 3 : 20;
    const job = { token: 'j', revision: 0, kind, id: 'j', queue: KEPT, attempt: 1, maxAttempts } as const;
    const times = { fence: fenceOf(claimedAt), dueAt: OFFSET + dueAt, latenessMs: claimedAt - dueAt };
    return this.add(startedAt, who, { type: 'start', ...job, ...times, ...rest });
  }

  end(mono: number, claimedAt: number, how: 'ok' | 'fail' | 'snooze' = 'ok', who = 'w1.1'): this {
    return this.add(mono, who, { type: 'end', id: 'j', fence: fenceOf(claimedAt), how });
  }

  told(
    mono: number,
    event: 'completed' | 'failed' | 'dead' | 'leaseLost' | 'discarded',
    attempt = 1,
    who = 'w1.1',
  ): this {
    return this.add(mono, who, { type: 'event', event, id: 'j', queue: KEPT, attempt });
  }

  fault(from: number, to: number, target: string, fault = 'freezeLong'): this {
    return this.add(to, 'harness', { type: 'fault', fault, target, from, done: true });
  }

  /** What is found at the end; the counters fit it, unless said otherwise. */
  ends(final: Partial<FinalLine> = {}): Set<string> {
    const { dead = [], completed = [], waiting = [], active = [] } = final;
    const starts = this.lines.filter(({ type }) => type === 'start').length;
    const scheduled = dead.length + completed.length + waiting.length + active.length + (final.stats?.cancelled ?? 0);
    const stats = { scheduled, started: starts, completed: completed.length, dead: dead.length, ...final.stats };
    this.add(29_000, 'harness', { type: 'drained', drained: true });
    for (const worker of ['w1', 'w2', 'w3'])
      this.add(29_100, 'harness', { type: 'probe', worker, from: 29_100, done: true });
    this.add(29_500, 'harness', { type: 'final', queue: KEPT, dead, completed, waiting, active, stats });
    const timeline = new Timeline(this.lines.sort((a, b) => a.mono - b.mono));
    return new Set(check(timeline).map(({ rule }) => rule));
  }

  /** The job has completed under the fence of that claim. */
  endsCompleted(claimedAt: number, stats: Record<string, number> = {}): Set<string> {
    return this.ends({ completed: [{ id: 'j', token: 'j', result: String(fenceOf(claimedAt)) }], stats });
  }

  endsDead(reason: string, attempts = 1, crashes = 0): Set<string> {
    return this.ends({ dead: [{ id: 'j', token: 'j', reason, attempts, crashes }] });
  }
}

const fenceOf = (claimedAt: number) => (OFFSET + claimedAt) * 1_000;
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

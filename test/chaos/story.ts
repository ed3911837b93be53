import { check } from './checker.js';
import type { AnswerLine, Body, CallLine, FinalLine, Line, RecurrenceOperation, RunEnd, StartLine } from './history.js';
import { RECURRENCES } from './recurrences.js';
import type { QueueName } from './settings.js';
import { Timeline } from './timeline.js';

/** Redis' clock less the monotonic one, in the histories made here. */
export const OFFSET = 1_800_000_000_000;
export const KEPT: QueueName = 'kept';

const fenceOf = (claimedAt: number) => (OFFSET + claimedAt) * 1_000;

/** A dead job as it is found in the end. */
export function death(dead: Partial<FinalLine['dead'][number]>): FinalLine['dead'][number] {
  const times = { dueAt: OFFSET + 500, diedAt: OFFSET + 5_000 };
  return { id: 'j', token: 'j', reason: 'crashed', attempts: 3, crashes: 3, ...times, ...dead };
}

interface OccurrenceRun {
  dueAt: number;
  claimedAt: number;
  tookMs: number;
  attempt: number;
  how: RunEnd;
  missed: boolean;
  /** The instant that the job says it is of. */
  says: number;
}

interface GroupedRun {
  group: string;
  /** The group that the job says it is of. */
  says: string;
  attempt: number;
  dueAt: number;
  tookMs: number;
  /** Of a process that dies: nothing. */
  how: 'ok' | 'fail' | undefined;
  /** When somebody asks to cancel it. Its handler goes on. */
  cancelledAt: number;
}

/** A history made by hand. Instants are ms from the beginning. */
export class Story {
  private readonly lines: Line[] = [];
  private readonly ran = new Map<string, FinalLine['completed'][number]>();
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
    answer?: Partial<Pick<AnswerLine, 'changed' | 'status' | 'dueAt'>> & { outcome?: 'refused' },
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
    const { changed, dueAt, status, outcome = 'ok' } = answer;
    const instant = dueAt === undefined ? undefined : OFFSET + dueAt;
    return this.add(mono + 2, 'p1.1', {
      type: 'answer',
      call: number,
      token: line.token,
      outcome,
      changed,
      status,
      dueAt: instant,
    });
  }

  scheduled(mono: number, dueAt: number, kind: StartLine['kind'] = 'quick'): this {
    const payload = { token: 'j', revision: 0, kind };
    return this.call(mono, { payload, when: { at: OFFSET + dueAt } }, { changed: true, status: 'created', dueAt });
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
    event: 'completed' | 'failed' | 'dead' | 'leaseLost' | 'discarded' | 'snoozed',
    attempt = 1,
    who = 'w1.1',
  ): this {
    return this.add(mono, who, { type: 'event', event, id: 'j', queue: KEPT, attempt });
  }

  toldDead(mono: number, reason: string, attempt: number): this {
    return this.add(mono, 'w1.1', { type: 'event', event: 'dead', id: 'j', queue: KEPT, attempt, reason });
  }

  /** A call about a recurrence, begun at an instant and answered 2 ms later, unless nothing is answered. */
  recurrenceCall(
    mono: number,
    operation: RecurrenceOperation,
    recurrence: string,
    answer?: { changed?: boolean; id?: string; outcome?: 'refused'; isUnknown?: boolean },
  ): this {
    const call = ++this.calls;
    this.add(mono, 'p1.1', { type: 'recurrenceCall', call, operation, recurrence });
    return answer
      ? this.add(mono + 2, 'p1.1', { type: 'recurrenceAnswer', call, outcome: 'ok', ...answer })
      : this.add(mono + 2, 'p1.1', { type: 'exit', wanted: true, code: 'SIGKILL' });
  }

  /** An occurrence of a nominal instant that ran as it should, but for what is said otherwise. */
  occurrence(recurrence: string, at: number, run: Partial<OccurrenceRun> = {}): this {
    const { dueAt = at, claimedAt = dueAt + 1, tookMs = 5, attempt = 1, how = 'ok', missed = false, says = at } = run;
    const { queue } = RECURRENCES[recurrence]!;
    const id = `${recurrence}@${OFFSET + at}`;
    const of = { id: recurrence, at: OFFSET + says, missed };
    this.start(claimedAt, { token: id, id, queue, kind: 'recurring', attempt, dueAt, recurrence: of });
    this.add(claimedAt + 1 + tookMs, 'w1.1', { type: 'end', id, fence: fenceOf(claimedAt), how });
    const event = how === 'ok' ? 'completed' : 'failed';
    this.add(claimedAt + 2 + tookMs, 'w1.1', { type: 'event', event, id, queue, attempt });
    if (queue === KEPT && how === 'ok') this.ran.set(id, { id, token: '', result: String(fenceOf(claimedAt)) });
    return this;
  }

  /** With what completed in the histories of occurrences and of jobs with a group, and nothing else. */
  endsAsRan(cancelled = 0): Set<string> {
    return this.ends({ completed: [...this.ran.values()], stats: { cancelled } });
  }

  /** A run of a job with a group, which is scheduled before its first one. */
  grouped(id: string, claimedAt: number, run: Partial<GroupedRun> = {}): this {
    const { group = 'g', says = group, attempt = 1, dueAt = claimedAt - 1, tookMs = 5 } = run;
    const how = 'how' in run ? run.how : 'ok';
    const payload = { token: id, revision: 0, kind: 'grouped', group } as const;
    if (attempt === 1) {
      const call = { token: id, id, payload, when: { at: OFFSET + dueAt } };
      this.call(dueAt - 10, call, { changed: true, status: 'created', dueAt });
    }
    this.start(claimedAt, { token: id, id, kind: 'grouped', group: says, attempt, dueAt });
    if (how === undefined) return this;
    this.add(claimedAt + 1 + tookMs, 'w1.1', { type: 'end', id, fence: fenceOf(claimedAt), how });
    if (run.cancelledAt !== undefined) {
      const answered = { operation: 'cancelRunning', token: id, id } as const;
      this.call(run.cancelledAt, answered, { changed: true });
      this.add(run.cancelledAt + 3, 'w1.1', { type: 'event', event: 'cancelled', id, queue: KEPT, attempt: 0 });
      return this;
    }
    const event = how === 'ok' ? 'completed' : 'failed';
    this.add(claimedAt + 2 + tookMs, 'w1.1', { type: 'event', event, id, queue: KEPT, attempt });
    if (how === 'ok') this.ran.set(id, { id, token: id, result: String(fenceOf(claimedAt)) });
    return this;
  }

  fault(from: number, to: number, target: string, fault = 'freezeLong'): this {
    return this.add(to, 'harness', { type: 'fault', fault, target, from, done: true });
  }

  /** What is found at the end; the counters fit it, unless said otherwise. */
  ends(final: Partial<FinalLine> = {}): Set<string> {
    const { dead = [], completed = [], waiting = [], active = [], groupKeys = [] } = final;
    const starts = this.lines.filter(({ type }) => type === 'start').length;
    const scheduled = dead.length + completed.length + waiting.length + active.length + (final.stats?.cancelled ?? 0);
    const stats = { scheduled, started: starts, completed: completed.length, dead: dead.length, ...final.stats };
    this.add(29_000, 'harness', { type: 'drained', drained: true });
    for (const worker of ['w1', 'w2', 'w3'])
      this.add(29_100, 'harness', { type: 'probe', worker, from: 29_100, done: true });
    this.add(29_500, 'harness', { type: 'final', queue: KEPT, dead, completed, waiting, active, groupKeys, stats });
    const timeline = new Timeline(this.lines.sort((a, b) => a.mono - b.mono));
    return new Set(check(timeline).map(({ rule }) => rule));
  }

  /** The job has completed under the fence of that claim. */
  endsCompleted(claimedAt: number, stats: Record<string, number> = {}): Set<string> {
    return this.ends({ completed: [{ id: 'j', token: 'j', result: String(fenceOf(claimedAt)) }], stats });
  }

  /** Died at an instant, when it was due at 500. */
  endsDead(reason: string, attempts = 1, crashes = 0, diedAt = 5_000): Set<string> {
    return this.ends({ dead: [death({ reason, attempts, crashes, diedAt: OFFSET + diedAt })] });
  }
}

import { type Answered, answeredCalls } from './answered-calls.js';
import { Clocks, type Instant } from './clocks.js';
import type {
  AnswerLine,
  AuditLine,
  CallLine,
  EndLine,
  EventLine,
  FaultLine,
  FinalLine,
  Line,
  OperationName,
  RecurrenceAnswerLine,
  RecurrenceOperation,
  RunEnd,
  StartLine,
  When,
} from './history.js';
import type { KindName } from './job-kinds.js';
import { occurrenceOf, RECURRENCES } from './recurrences.js';
import { COMMAND_TIMEOUT_MS, LEASE_MS, type QueueName } from './settings.js';

/** An operation of a producer on one job. Instants are bounds by Redis' clock. */
export interface Call extends Answered {
  operation: OperationName;
  when?: When;
  revision?: number;
  changed?: boolean;
  /** Of a schedule or a replacement that was answered. */
  status?: AnswerLine['status'];
  dueAt?: number;
}

/** An operation of a producer on a recurrence. */
export interface RecurrenceCall extends Answered, Pick<RecurrenceAnswerLine, 'changed' | 'id' | 'isUnknown'> {
  operation: RecurrenceOperation;
  recurrence: string;
}

/** A handler's run of a job. */
export interface Run extends StartLine {
  mono: number;
  who: string;
  /** By Redis' clock: a fence is that clock's time in microseconds (see docs/calls-and-replays.md). */
  claimedAt: number;
  startedAt: Instant;
  endedAt?: Instant;
  how?: RunEnd;
  /** The event by which the library told that this run's outcome counts, and until when that had happened. */
  settled?: EventLine['event'];
  settledBy?: number;
  /** The library told that it does not count. */
  lost?: boolean;
}

export interface Job {
  token: string;
  queue: QueueName;
  kind: KindName;
  group?: string;
  /** Of which recurrence it is, and its nominal instant. Its token is its id. */
  occurrence?: { recurrence: string; at: number };
  calls: Call[];
  /** By fence. */
  runs: Run[];
  /** Deaths and ends as the library told them, of runs that never reached a handler too. */
  events: EventLine[];
  dead?: FinalLine['dead'][number];
  completed?: FinalLine['completed'][number];
  unfinished?: 'waiting' | 'active';
  /**
   * The id may have had several lives: it was replaced beside or after a run, or scheduled again once it had been cancelled. What
   * its runs and ends say cannot be told apart by life.
   */
  hasLives: boolean;
}

/** Something that disturbs a process, or all of them. */
export interface Disturbance {
  who: string;
  from: number;
  to: number;
}

/** How long a process may be busy with a fault that is over: finding out that a connection is dead, connecting, catching up. */
const AFTERMATH_MS = COMMAND_TIMEOUT_MS + LEASE_MS;
/** Redis is asked for its time ten times a second. */
const SILENCE_MS = 400;
const SETTLING = new Set(['completed', 'failed', 'dead', 'snoozed', 'discarded']);

/** What happened to each job, put together from the lines of all processes. */
export class Timeline {
  readonly clocks: Clocks;
  readonly jobs = new Map<string, Job>();
  readonly recurrenceCalls: RecurrenceCall[] = [];
  readonly disturbances: Disturbance[] = [];
  private readonly tokens = new Map<string, string>();
  private lastClockAt = Number.POSITIVE_INFINITY;
  /** Processes whose last line is the start of a handler that blocks: one that is killed then cannot say how long it stood still. */
  private readonly blockedSince = new Map<string, number>();
  private readonly runs = new Map<string, Run[]>();
  /** Rules ask for the faults of a run again and again, which are few among its lines. */
  private readonly byType = new Map<Line['type'], Line[]>();

  constructor(readonly lines: readonly Line[]) {
    for (const line of lines) {
      const others = this.byType.get(line.type);
      if (others) others.push(line);
      else this.byType.set(line.type, [line]);
    }
    this.clocks = new Clocks(lines);
    this.readCalls();
    for (const line of lines) this.read(line);
    for (const job of this.jobs.values()) {
      job.runs.sort((a, b) => a.fence - b.fence);
      job.hasLives = mayHaveLives(job);
    }
  }

  of<T extends Line['type']>(type: T): readonly (Line & { type: T })[] {
    return (this.byType.get(type) ?? []) as (Line & { type: T })[];
  }

  get audits(): readonly (Line & AuditLine)[] {
    return this.of('audit');
  }

  get faults(): readonly (Line & FaultLine)[] {
    return this.of('fault');
  }

  get finals(): readonly (Line & FinalLine)[] {
    return this.of('final');
  }

  /** Whether a fault, or a machine too busy, may have kept a process from something between two instants. */
  wasDisturbed(who: string, from: number, to: number): boolean {
    return this.disturbances.some(
      (one) => (one.who === who || one.who === 'all') && one.from <= to && from <= one.to + AFTERMATH_MS,
    );
  }

  /**
   * Whether Redis or a process had stood still for a lease, or longer, shortly before or between two instants: what a worker had asked for
   * before that, it gives back unbegun.
   */
  stoodStillForALease(from: number, to: number): boolean {
    return this.disturbances.some(
      (one) => one.to - one.from >= LEASE_MS && one.from <= to && from <= one.to + AFTERMATH_MS,
    );
  }

  /** Whether a process was told to leave between two instants; it puts back what it holds. */
  wasTerminated(who: string, from: number, to: number): boolean {
    return this.faults.some(
      ({ fault, target, from: begin, mono }) =>
        fault === 'terminate' &&
        target === who &&
        this.clocks.at(begin).earliest <= to &&
        from <= this.clocks.at(mono).latest,
    );
  }

  /** The job of an id; by its token, where that was found with it. */
  jobWith(id: string, token?: string): Job | undefined {
    return this.jobs.get(token || this.tokens.get(id) || '');
  }

  private readCalls(): void {
    for (const { call, answer, answered } of answeredCalls(this.lines, this.clocks, 'call')) {
      const { operation, token, when, payload } = call;
      const id = answer?.id ?? call.id;
      if (id !== undefined) this.tokens.set(id, token);
      const { changed, status, dueAt } = answer ?? {};
      this.jobOf(call).calls.push({
        operation,
        ...answered,
        when,
        revision: payload?.revision,
        changed,
        status,
        dueAt,
      });
    }
    for (const { call, answer, answered } of answeredCalls(this.lines, this.clocks, 'recurrenceCall')) {
      const { operation, recurrence } = call;
      const { changed, id, isUnknown } = answer ?? {};
      this.recurrenceCalls.push({ operation, recurrence, ...answered, changed, id, isUnknown });
    }
  }

  private jobOf({ token, queue, payload }: Pick<CallLine, 'token' | 'queue' | 'payload'>): Job {
    let job = this.jobs.get(token);
    if (!job) {
      const occurrence = occurrenceOf(token);
      const kind = occurrence ? 'recurring' : (payload?.kind ?? 'quick');
      job = { token, queue, kind, group: payload?.group, occurrence, calls: [], runs: [], events: [], hasLives: false };
      this.jobs.set(token, job);
    }
    return job;
  }

  /** The job of an id that a line names: nobody schedules an occurrence, so it is known by its id. */
  private found(id: string, token?: string): Job | undefined {
    const occurrence = occurrenceOf(id);
    if (!occurrence) return this.jobWith(id, token);
    this.tokens.set(id, id);
    return this.jobOf({ token: id, queue: RECURRENCES[occurrence.recurrence]!.queue });
  }

  private read(line: Line): void {
    if (line.type !== 'exit') this.blockedSince.delete(line.who);
    if (line.type === 'start') this.readStart(line);
    else if (line.type === 'end') this.readEnd(line);
    else if (line.type === 'event') this.readEvent(line);
    else if (line.type === 'final') this.readFinal(line);
    else if (line.type === 'fault' && line.fault !== 'audit')
      this.disturb(line.target === 'redis' ? 'all' : line.target, line.from, line.mono);
    else if (line.type === 'stall') this.disturb(line.who === 'harness' ? 'all' : line.who, line.from, line.mono);
    else if (line.type === 'clock') this.readClock(line);
    else if (line.type === 'exit') this.disturb(line.who, this.blockedSince.get(line.who) ?? line.mono, line.mono);
    else if (line.type === 'healed') this.disturb('all', line.mono, line.mono);
    else if (line.type === 'probe') this.disturb('all', line.from, line.mono);
  }

  private disturb(who: string, from: number, to: number): void {
    this.disturbances.push({ who, from: this.clocks.at(from).earliest, to: this.clocks.at(to).latest });
  }

  /** Where Redis let the harness wait, be it for the disk, it let others wait too. */
  private readClock({ mono }: Line): void {
    if (mono - this.lastClockAt > SILENCE_MS) this.disturb('all', this.lastClockAt, mono);
    this.lastClockAt = mono;
  }

  private readStart(line: Line & StartLine): void {
    if (line.kind === 'blocking') this.blockedSince.set(line.who, line.mono);
    const job = this.found(line.id, line.token);
    this.tokens.set(line.id, line.token);
    const run: Run = { ...line, claimedAt: Math.floor(line.fence / 1_000), startedAt: this.clocks.at(line.mono) };
    const key = `${line.who} ${line.id}`;
    this.runs.set(key, [...(this.runs.get(key) ?? []), run]);
    job?.runs.push(run);
  }

  private readEnd({ who, id, fence, how, mono }: Line & EndLine): void {
    const run = this.runs.get(`${who} ${id}`)?.find((one) => one.fence === fence);
    if (run) Object.assign(run, { how, endedAt: this.clocks.at(mono) });
  }

  /**
   * An event names attempt and process, not the fence: of runs that fit, the one that began last is meant. A death as
   * crashed is told by whoever found the lease over, which may be the process whose run it was, and settles no run.
   */
  private readEvent(line: Line & EventLine): void {
    const { who, id, attempt, event, reason, mono } = line;
    this.found(id)?.events.push(line);
    const runs = (this.runs.get(`${who} ${id}`) ?? []).filter((run) => run.attempt === attempt);
    if (event === 'leaseLost') {
      const lost = runs.findLast((run) => !run.settled && !run.lost);
      if (lost) lost.lost = true;
    } else if (SETTLING.has(event) && reason !== 'crashed') {
      // A death by failure is told twice: failed, then dead.
      const settled = runs.findLast(
        (run) => run.how && !run.lost && (!run.settled || (event === 'dead' && run.settled === 'failed')),
      );
      if (settled) Object.assign(settled, { settled: event, settledBy: this.clocks.at(mono).latest });
    }
  }

  private readFinal({ dead, completed, waiting, active }: FinalLine): void {
    for (const one of dead) Object.assign(this.found(one.id, one.token) ?? {}, { dead: one });
    for (const one of completed) Object.assign(this.found(one.id, one.token) ?? {}, { completed: one });
    for (const id of waiting) Object.assign(this.found(id) ?? {}, { unfinished: 'waiting' });
    for (const id of active) Object.assign(this.found(id) ?? {}, { unfinished: 'active' });
  }
}

function mayHaveLives({ calls }: Job): boolean {
  const done = calls.filter(({ outcome }) => outcome !== 'refused');
  if (done.some(({ operation, status }) => operation === 'replace' && status !== 'replaced')) return true;
  const mayCancel = ({ operation, outcome, changed }: Call) =>
    /^cancel/.test(operation) && (outcome === 'unknown' || changed === true);
  const mayCreate = ({ operation, outcome, status }: Call) =>
    operation === 'schedule' && (outcome === 'unknown' || status === 'created');
  return done.some(mayCancel) && done.filter(mayCreate).length > 1;
}

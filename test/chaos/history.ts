import { openSync, readFileSync, writeSync } from 'node:fs';
import type { ScheduleStatus } from 'nestjs-redis-scheduled-queue';
import type { ChaosPayload, KindName } from './job-kinds.js';
import type { QueueName } from './settings.js';

export type OperationName = 'schedule' | 'replace' | 'cancel' | 'reschedule' | 'runNow' | 'cancelRunning';
/** What is asked of a recurrence. An armed occurrence is cancelled as any job is. */
export type RecurrenceOperation = 'upsert' | 'pause' | 'resume' | 'runNow' | 'backfill' | 'remove';
/** As `QueueUnavailableError` has it; an operation without an end is `unknown` too. */
export type Outcome = 'ok' | 'refused' | 'unknown';
export type RunEnd = 'ok' | 'fail' | 'snooze' | 'discard' | 'dead-letter' | 'cancel';

/** When something is to be due: an instant in epoch ms, or a while from now. */
export type When = { at: number } | { delay: number };

/** What a handler was given, noted before it does anything. */
export interface StartLine {
  type: 'start';
  token: string;
  revision: number;
  kind: KindName;
  /** As the job itself says. */
  group?: string;
  id: string;
  queue: QueueName;
  attempt: number;
  maxAttempts: number;
  fence: number;
  dueAt: number;
  latenessMs: number;
  createdAt?: number;
  /** As the job itself says; missing where it is no occurrence. */
  recurrence?: { id: string; at: number; missed: boolean };
}

/** What a handler answered, noted as the last thing that it does. */
export interface EndLine {
  type: 'end';
  id: string;
  fence: number;
  how: RunEnd;
}

/** An event of the library, told once Redis has confirmed it. */
export interface EventLine {
  type: 'event';
  event: 'completed' | 'failed' | 'dead' | 'snoozed' | 'discarded' | 'leaseLost' | 'cancelled';
  id: string;
  queue: QueueName;
  attempt: number;
  reason?: string;
}

/** One line for each job of a call, before it is made. */
export interface CallLine {
  type: 'call';
  call: number;
  operation: OperationName;
  token: string;
  queue: QueueName;
  /** Missing where the library makes it. */
  id?: string;
  when?: When;
  payload?: ChaosPayload;
}

/** One line for each job of a call, once it is answered. */
export interface AnswerLine {
  type: 'answer';
  call: number;
  token: string;
  outcome: Outcome;
  id?: string;
  /** `true` where a job was created or changed. */
  changed?: boolean;
  /** Of a schedule or a replacement: what became of it. */
  status?: ScheduleStatus;
  dueAt?: number;
}

/** A call about a recurrence, before it is made. */
export interface RecurrenceCallLine {
  type: 'recurrenceCall';
  call: number;
  operation: RecurrenceOperation;
  recurrence: string;
}

/** The same once it is answered. */
export interface RecurrenceAnswerLine {
  type: 'recurrenceAnswer';
  call: number;
  outcome: Outcome;
  /** `true` where the recurrence was created, paused, resumed or removed. */
  changed?: boolean;
  /** Of a runNow: the id of the occurrence. */
  id?: string;
  /** The library said that there is no such recurrence; `refused` then. */
  isUnknown?: boolean;
  /** Of a backfill: how many were scheduled. */
  count?: number;
}

/** A fault, from when to when. `target` is a process, or `redis`. */
export interface FaultLine {
  type: 'fault';
  fault: string;
  target: string;
  from: number;
  /** False where it could not be done, as while Redis was away. */
  done: boolean;
}

/** Redis' clock, epoch ms, was `time` at some instant between `from` and this line. */
export interface ClockLine {
  type: 'clock';
  from: number;
  time: number;
}

/** The event loop of a process stood still from `from` to this line. */
export interface StallLine {
  type: 'stall';
  from: number;
}

export interface ExitLine {
  type: 'exit';
  /** Whether the harness wanted it. */
  wanted: boolean;
  code: number | string;
}

export interface AuditLine {
  type: 'audit';
  queue: QueueName;
  problems: string[];
}

/** What lies in a queue at the very end. */
export interface FinalLine {
  type: 'final';
  queue: QueueName;
  waiting: string[];
  active: string[];
  dead: {
    id: string;
    token: string;
    reason: string;
    attempts: number;
    crashes: number;
    dueAt: number;
    diedAt: number;
  }[];
  completed: { id: string; token: string; result: string }[];
  /** The keys that are there for groups alone. */
  groupKeys: string[];
  stats: Record<string, number>;
}

export type Body =
  | StartLine
  | EndLine
  | EventLine
  | CallLine
  | AnswerLine
  | RecurrenceCallLine
  | RecurrenceAnswerLine
  | FaultLine
  | ClockLine
  | StallLine
  | ExitLine
  | AuditLine
  | FinalLine
  | { type: 'ready' }
  /** A process has left after SIGTERM. */
  | { type: 'left'; tookMs: number }
  /** Something that no process may do: a warning of Node, an exception or rejection that nobody caught, an error of a call that is not told. */
  | { type: 'trouble'; message: string }
  /** Whether a recurrence went on once all had been healed: an occurrence began that was not due before `from`. */
  | { type: 'recurred'; recurrence: string; from: number; done: boolean }
  /** The last fault is over, and everything has been healed. */
  | { type: 'healed' }
  /** Nothing waits and nothing runs any more, or `drained` is false: the wait for that was over. */
  | { type: 'drained'; drained: boolean }
  /** Whether a worker ran a job while all others were frozen. */
  | { type: 'probe'; worker: string; from: number; done: boolean };

/** `mono`: ms of the monotonic clock, which all processes of a machine share. */
export type Line = Body & { who: string; mono: number };

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Appends to a file that many processes share, one write a line, so that what was noted is there even after SIGKILL. */
export class History {
  private readonly file: number;

  constructor(
    readonly path: string,
    readonly who: string,
  ) {
    this.file = openSync(path, 'a');
  }

  note(body: Body, who = this.who): void {
    writeSync(this.file, `${JSON.stringify({ ...body, who, mono: monotonicMs() })}\n`);
  }
}

/** All lines, in the order of the monotonic clock. */
export function readHistory(path: string): Line[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines
    .filter((line) => line.endsWith('}'))
    .map((line): Line => JSON.parse(line))
    .sort((a, b) => a.mono - b.mono);
}

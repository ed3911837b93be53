import { InvalidScheduleError } from '../../core/errors.js';
import type { ScheduledQueueEvent } from '../../core/job/events.js';
import { describe, nearest } from '../../core/read/describe.js';
import type { JobState } from '../../store/job-store.js';
import { ScheduledQueueTestError } from '../errors.js';
import type { ProcessJobStore } from '../redis/process-job-store.js';
import { Watchdog } from '../time/watchdog.js';
import { type CancelledJob, type End, type GoneJob, HeardJobs, isEnd, type NamedById } from './heard-jobs.js';
import type { JobKind } from './job-kind.js';

/** How a job may end, and what becomes of it before. */
export type AwaitedState = JobState | 'cancelled' | 'discarded';

const STATES: readonly AwaitedState[] = ['scheduled', 'due', 'active', 'completed', 'dead', 'cancelled', 'discarded'];

/** More than an event takes from the answer of a turn to its listeners. */
const ROUNDS_OF_AN_EVENT = 20;

/** What those who wait see of the application. */
export interface Surroundings {
  /** `undefined` while a call of the tester is under way; otherwise another text after each call. */
  idle(): string | undefined;
  /** Why nothing becomes of the job. */
  explain(): Promise<string>;
  /** The queues that have, or had, a job of this id, in any instance. */
  queuesOf(id: string): string[];
}

/** Remembers how each job of one module instance has ended, and tells those who wait for it. */
export class Ends {
  private readonly jobs = new HeardJobs();
  /** Those who look again with each event, and how they are told that there will be none. */
  private readonly waiting = new Map<() => void, (error: unknown) => void>();

  private isClosed = false;
  /** How many events. */
  private heard = 0;

  constructor(private readonly store: Pick<ProcessJobStore, 'inside' | 'openedQueues'>) {}

  hear(event: ScheduledQueueEvent | CancelledJob): void {
    this.jobs.hear(event);
    this.heard++;
    this.lookAgain();
  }

  /** Those of a kind that were cancelled or discarded, in this order. */
  gone(kind: JobKind): GoneJob[] {
    return this.jobs.gone(kind);
  }

  /** The queues that have, or had, a job of this id. */
  queuesOf(id: string): string[] {
    const there = this.store.openedQueues().filter((queue) => queue.holds(id));
    return [...new Set([...this.jobs.queuesOf(id), ...there.map(({ name }) => name)])];
  }

  /** Something may have changed for those who wait. */
  lookAgain(): void {
    for (const look of [...this.waiting.keys()]) look();
  }

  /** The state in which the job is, or how it ended; `undefined` where nobody knows it. */
  async stateOf(job: NamedById): Promise<AwaitedState | undefined> {
    // The store answers nobody any more; what has ended before is remembered.
    if (this.isClosed) return this.jobs.endOf(job);
    const there = this.store.inside(job.queue).job(job.id);
    if (there) return there.state;
    // It may have left the queue a moment ago, and its event is still on its way.
    for (let round = 0; round < ROUNDS_OF_AN_EVENT && !this.jobs.endOf(job); round++) await undefined;
    return this.jobs.endOf(job);
  }

  /** The application is closed: nothing more happens to any job. */
  close(): void {
    this.isClosed = true;
    for (const fail of [...this.waiting.values()]) fail(closed());
  }

  /** Resolves when the job is in that state; rejects where it has ended otherwise, is not known, or nothing moves it. Moves no time. */
  wait(job: NamedById, state: AwaitedState, surroundings: Surroundings): Promise<void> {
    return new Promise((resolve, reject) => {
      const patience = new Watchdog();
      const done = (end: () => void) => {
        patience.rest();
        this.waiting.delete(look);
        end();
      };
      const fail = (error: unknown) => done(() => reject(error));
      const look = () => {
        this.stateOf(job).then((now) => {
          if (now === state) done(resolve);
          else if (now === undefined && this.isClosed) fail(closed());
          else if (now === undefined || isEnd(now)) fail(otherwise(job, state, now, surroundings.queuesOf));
        }, fail);
      };
      const slow = () => void surroundings.explain().then((why) => fail(unmoved(job, state, why)), fail);
      patience.watch(() => surroundings.idle() && `${surroundings.idle()} ${this.heard}`, { slow, hangs() {} });
      this.waiting.set(look, fail);
      look();
    });
  }
}

/** The state that a test waits for. Throws `InvalidScheduleError` for one that is none, which would never come. */
export function readState(state: unknown): AwaitedState {
  const known = STATES.find((one) => one === state);
  if (known) return known;
  const near = typeof state === 'string' ? nearest(state, STATES) : undefined;
  const meant = near ? ` Did you mean '${near}'?` : '';
  throw new InvalidScheduleError(
    `waitFor: state: got ${describe(state)}, expected one of ${STATES.join(', ')}.${meant}`,
  );
}

const closed = () => new ScheduledQueueTestError('waitFor: the application was closed.');

function otherwise(
  { id, queue }: NamedById,
  state: string,
  end: End | undefined,
  queuesOf: Surroundings['queuesOf'],
): ScheduledQueueTestError {
  const other = end === undefined ? queuesOf(id).find((one) => one !== queue) : undefined;
  const hint =
    other === undefined
      ? ''
      : ` The id is known in queue '${other}': give { id: '${id}', queue: '${other}' }, or the job itself.`;
  const sentence =
    end === undefined
      ? `waitFor: no job '${id}' is known in queue '${queue}', so none becomes '${state}'. Was it scheduled, under this id?`
      : `waitFor: job '${id}' of queue '${queue}', which has ended as '${end}', will not be '${state}' any more.`;
  return new ScheduledQueueTestError(sentence + hint, { queue, jobId: id });
}

function unmoved({ id, queue }: NamedById, state: string, why: string): ScheduledQueueTestError {
  return new ScheduledQueueTestError(
    `waitFor: job '${id}' of queue '${queue}' does not become '${state}', as no call of the tester was under way for 4 s of real time. ${why}`,
    { queue, jobId: id },
  );
}

import type { ClaimedJob, HandlerCapacity, LateJob, SkippedOccurrence, Turn } from '../../../store/job-store.js';
import type { Job } from '../job.js';
import type { MemoryQueue } from '../memory-queue.js';
import type { Listener } from '../sleepers.js';

export interface Picked {
  readonly job: Job;
  readonly weight: number;
  /** Of a job of a group: whether jobs without one, which the session may not run, stood before it in the turns. */
  readonly overtakes?: boolean;
}

/** One turn under way: who takes it, when, and what its steps have found so far. */
export interface Stage {
  readonly queue: MemoryQueue;
  readonly session: Listener;
  readonly turn: Turn;
  readonly nowMs: number;
  /** Of names whose handlers have a weight or a limit of their own. `free` falls as their jobs are claimed. */
  readonly handlers: ReadonlyMap<string, HandlerCapacity>;
  /** The due jobs that it takes, the best first; some of them are not claimed after all. */
  picked: Picked[];
  /** Why no more of the due jobs: the session's limit, a gate, or the size of the turn. */
  stopped?: 'limit' | 'gate' | 'size';
  /** Names that were passed over because their handlers are full here. */
  readonly fullNames: Set<string>;
  readonly late: LateJob[];
  readonly skippedOccurrences: SkippedOccurrence[];
  claimed: ClaimedJob[];
  /** Jobs that go back: they wait once the claim is over, so that no turn claims what it has put back itself. */
  readonly returning: Job[];
  /** A job that this turn puts back is due already, or one that was due was turned away: so the session looks again at once. */
  looksAgain: boolean;
  /** Ids of jobs that have ended in this turn and left the queue. */
  readonly left: Set<string>;
  /** How many jobs have died, and whether an id is remembered. */
  died: number;
  remembers: boolean;
  /** Some were discarded or cancelled. */
  someDiscardedOrCancelled: boolean;
}

export function stageOf(queue: MemoryQueue, session: Listener, turn: Turn): Stage {
  return {
    queue,
    session,
    turn,
    nowMs: queue.nowMs(),
    handlers: new Map(turn.handlers.map((handler) => [handler.name, { ...handler }])),
    picked: [],
    fullNames: new Set(),
    late: [],
    skippedOccurrences: [],
    claimed: [],
    returning: [],
    looksAgain: false,
    left: new Set(),
    died: 0,
    remembers: false,
    someDiscardedOrCancelled: false,
  };
}

export const isFull = ({ handlers }: Stage, name: string) => (handlers.get(name)?.free ?? 1) <= 0;

export const mayRun = (stage: Stage, { envelope }: Job) =>
  stage.session.handles(envelope) && !isFull(stage, envelope.name);

/** A picked job is not claimed: its handler has its place back. */
export function giveBack(stage: Stage, { envelope }: Job): void {
  const handler = stage.handlers.get(envelope.name);
  if (handler) handler.free++;
}

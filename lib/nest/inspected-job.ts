import { deserialisePayload } from '../core/payload.js';
import { decodeEnvelope, type Envelope } from '../store/envelope.js';
import type { JobState, StoredJob } from '../store/job-store.js';

export interface FailedAttempt {
  at: Date;
  attempt: number;
  name?: string;
  message?: string;
  stack?: string;
}

/** All that is known of a job. */
export interface InspectedJob {
  id: string;
  queue: string;
  name: string;
  state: JobState;
  /** As it was sent, before any class. `undefined` where it cannot be read. */
  payload: unknown;
  headers: Readonly<Record<string, string>>;
  priority: number;
  dueAt: Date;
  createdAt: Date;
  /** How many attempts have begun. */
  attempts: number;
  failures: FailedAttempt[];
  /** Of an active job: who runs it, and until when its lease holds. */
  worker?: string;
  leaseUntil?: Date;
  /** Of a completed or dead job. */
  endedAt?: Date;
  /** Why a dead job is dead. */
  reason?: string;
  /** What the handler of a completed job answered. */
  result?: unknown;
}

/** A stored job as the inspector shows it; what cannot be read of it is left out rather than thrown. */
export function toInspected(queue: string, stored: StoredJob): InspectedJob {
  const { id, state, attempts, worker } = stored;
  const failures = stored.failures.map(readFailure);
  const envelope = tryDecode(stored.envelope);
  return {
    id,
    queue,
    name: envelope?.name ?? '',
    state,
    payload: tryParse(envelope?.payload),
    headers: envelope?.settings.headers ?? {},
    priority: envelope?.priority ?? 0,
    dueAt: new Date(stored.dueAtMs),
    createdAt: new Date(envelope?.createdAtMs ?? 0),
    attempts,
    failures: failures.map(({ reason: _, ...failure }) => failure),
    ...(worker !== undefined && { worker }),
    ...(stored.leaseUntilMs !== undefined && { leaseUntil: new Date(stored.leaseUntilMs) }),
    ...(stored.endedAtMs !== undefined && { endedAt: new Date(stored.endedAtMs) }),
    ...(state === 'dead' && { reason: failures.at(-1)?.reason }),
    ...(state === 'completed' && { result: tryParse(stored.result) }),
  };
}

function readFailure(line: string): FailedAttempt & { reason?: string } {
  const [at, attempt, ...json] = line.split(' ');
  return { at: new Date(Number(at)), attempt: Number(attempt), ...(tryParse(json.join(' ')) as object) };
}

function tryDecode(envelope: string): Envelope | undefined {
  try {
    return decodeEnvelope(envelope);
  } catch {
    return undefined;
  }
}

function tryParse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : deserialisePayload(text);
  } catch {
    return undefined;
  }
}

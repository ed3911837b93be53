import type { StoredJob } from '../../job-store.js';
import { decodeClaim } from '../codec/claim-text.js';
import { decodeEnding } from '../codec/ending-text.js';
import { decodeEnvelope } from '../codec/envelope-text.js';
import { decodeFailure } from '../codec/failure-line.js';
import { processOf } from '../keys.js';
import { textOf } from '../link/send-script.js';

/** What the script `job` answers, and `jobs` of each job; empty for an unknown one. Payloads that are no text come as bytes. */
export type KnownJob = [
  now: string,
  state: string,
  time: string,
  envelope: string | Buffer,
  claim: string,
  failures: string,
  kept: string | Buffer,
  queuedDue?: string | null,
];

/** Where in it payloads stand: in the envelope, and in what is kept of a completed job. */
const ENVELOPE_AT = 3;
const KEPT_AT = 6;

/** Text of a reply that came as bytes, but where payloads stand. */
export function jobFromBytes(reply: unknown): unknown {
  return (reply as unknown[]).map((field, at) => (at === ENVELOPE_AT || at === KEPT_AT ? field : textOf(field)));
}

/** The same for many. */
export function jobsFromBytes(replies: unknown): unknown {
  return (replies as unknown[]).map(jobFromBytes);
}

/** A job as the scripts tell of it; `undefined` for an unknown one. */
export function readJob(id: string, reply: KnownJob): StoredJob | undefined {
  if ((reply.length as number) === 0) return undefined;
  const [now, state, time, envelope, claim, failures, kept, queuedDue] = reply;
  const at = Number(time);
  const failed = failures === '' ? [] : failures.split('\n').map(decodeFailure);
  if (state === 'ended')
    return { id, endedAtMs: at, crashes: 0, failures: [], ...decodeEnding(textOf(kept) as string) };
  if (state === 'completed') return { id, state, endedAtMs: at, crashes: 0, failures: failed, ...readKept(kept) };
  const { fence, marks, attempt, crashes, dueAtMs, holder, lane, progress } = decodeClaim(claim);
  const known = {
    id,
    attempts: attempt,
    crashes,
    envelope: decodeEnvelope(envelope),
    failures: failed,
    ...(progress !== undefined && { progress }),
  };
  if (state === 'active') {
    return {
      ...known,
      state,
      dueAtMs,
      leaseUntilMs: at,
      fence,
      worker: processOf(holder),
      cancelRequested: marks.includes('c'),
      ...(typeof queuedDue === 'string' && { queuedDueAtMs: Number(queuedDue) }),
    };
  }
  if (state === 'dead') return { ...known, state, dueAtMs, endedAtMs: at };
  const isSuspect = /^\d+:!/.test(lane);
  return { ...known, state: at <= Number(now) ? 'due' : 'scheduled', dueAtMs: at, isSuspect };
}

/** Of a completed job: a line of its attempts, its due time and what it has reported last; its result, its envelope. */
function readKept(kept: string | Buffer): Pick<StoredJob, 'attempts' | 'dueAtMs' | 'progress' | 'result' | 'envelope'> {
  const secondEnd = kept.indexOf('\n', kept.indexOf('\n') + 1);
  const end = secondEnd < 0 ? kept.length : secondEnd;
  const lines = typeof kept === 'string' ? kept.slice(0, end) : kept.toString('utf8', 0, end);
  const envelope = typeof kept === 'string' ? kept.slice(end + 1) : kept.subarray(end + 1);
  const [numbers, result] = lines.split('\n');
  const [attempts, dueAtMs, ...progress] = numbers!.split(' ');
  return {
    attempts: Number(attempts),
    dueAtMs: Number(dueAtMs),
    ...(progress.length > 0 && { progress: progress.join(' ') }),
    result,
    envelope: decodeEnvelope(envelope),
  };
}

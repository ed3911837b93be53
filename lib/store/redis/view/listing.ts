import type { OrderingRule } from '../../../core/options/queue-options.js';
import type { JobState, StoredJob } from '../../job-store.js';
import { decodeEnvelope } from '../codec/envelope-text.js';
import { decodeFailure } from '../codec/failure-line.js';
import { processOf, type QueueKeys } from '../keys.js';
import type { RedisConnection } from '../link/connection.js';
import { WaitingList } from './waiting-list.js';

/** How many jobs one call reads, and after how many bytes it stops, so that it takes Redis no more than 1 to 4 ms. */
const JOBS_A_CALL = 200;
const BYTES_A_CALL = 1024 * 1024;

/** Reads jobs of one queue in short calls, as many as are needed, all before `giveUpAt`, a time of `performance.now()`. */
export class RedisListing {
  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: QueueKeys,
    private readonly giveUpAt: number,
    private readonly ordering: OrderingRule = { mode: 'strict' },
  ) {}

  async job(id: string): Promise<StoredJob | undefined> {
    const reply = (await this.connection.run('job', this.readKeys(), [this.keys.base, id], this.giveUpAt)) as string[];
    return reply.length === 0 ? undefined : readJob(id, reply);
  }

  /** Calls `tell` for each job of one state, in order, as it arrives. */
  async each(state: JobState, offset: number, limit: number, tell: (job: StoredJob) => void): Promise<void> {
    const { connection, keys, giveUpAt } = this;
    const ids = await this.ids(state, offset, limit);
    for (let at = 0; at < ids.length; ) {
      const asked = ids.slice(at, at + JOBS_A_CALL);
      const args = [keys.base, BYTES_A_CALL, ...asked];
      const replies = (await connection.run('jobs', this.readKeys(), args, giveUpAt)) as string[][];
      at += replies.length;
      for (const [i, reply] of replies.entries()) {
        const job = reply.length === 0 ? undefined : readJob(asked[i]!, reply);
        // A job that has left this state since its id was read is left out.
        if (job?.state === state) tell(job);
      }
    }
  }

  private ids(state: JobState, offset: number, limit: number): Promise<string[]> {
    const { keys, connection, giveUpAt } = this;
    const end = offset + limit - 1;
    switch (state) {
      case 'active':
        return connection.read((client) => client.zrange(keys.active, String(offset), String(end)), giveUpAt);
      case 'dead':
        return connection.read((client) => client.zrevrange(keys.dead, offset, end), giveUpAt);
      case 'completed':
        return connection.read((client) => client.zrevrange(keys.completed, offset, end), giveUpAt);
      default:
        return new WaitingList(connection, keys, giveUpAt, this.ordering).ids(state, offset, limit);
    }
  }

  private readKeys(): string[] {
    const { keys } = this;
    const { jobs, claims, failures, active, dead, completed, results, queued } = keys;
    return [jobs, claims, failures, active, dead, completed, results, queued];
  }
}

function readJob(
  id: string,
  [now, state, time, envelope, record, failures, kept, queuedDue]: (string | null)[],
): StoredJob {
  const at = Number(time);
  const failed = failures === '' ? [] : failures!.split('\n').map(decodeFailure);
  if (state === 'completed') {
    const [head, result, ...rest] = kept!.split('\n');
    const [attempts, dueAtMs] = head!.split(' ').map(Number);
    return {
      id,
      state,
      dueAtMs: dueAtMs!,
      endedAtMs: at,
      attempts: attempts!,
      crashes: 0,
      envelope: decodeEnvelope(rest.join('\n')),
      failures: failed,
      result,
    };
  }
  const [mark, attempts, crashes, due, worker, lane] = record === '' ? ['0', '0', '0', '0', '-'] : record!.split(' ');
  // The letters behind the fence are marks; 'c' says that somebody wants the job cancelled.
  const fence = mark!.replace(/[a-z]+$/, '');
  const known = {
    id,
    attempts: Number(attempts),
    crashes: Number(crashes),
    envelope: decodeEnvelope(envelope!),
    failures: failed,
  };
  if (state === 'active') {
    const cancelRequested = mark!.includes('c');
    return {
      ...known,
      state,
      dueAtMs: Number(due),
      leaseUntilMs: at,
      fence,
      worker: processOf(worker!),
      cancelRequested,
      ...(typeof queuedDue === 'string' && { queuedDueAtMs: Number(queuedDue) }),
    };
  }
  if (state === 'dead') return { ...known, state, dueAtMs: Number(due), endedAtMs: at };
  const isSuspect = lane !== undefined && /^\d+:!:/.test(lane);
  return { ...known, state: at <= Number(now) ? 'due' : 'scheduled', dueAtMs: at, isSuspect };
}

import type { OrderingRule } from '../../../core/options/queue-options.js';
import type { JobState, StoredJob } from '../../job-store.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { jobScript, jobsScript } from '../scripts/look/contract.js';
import { jobFromBytes, jobsFromBytes, type KnownJob, readJob } from './stored-job.js';
import { WaitingList } from './waiting-list.js';

/** How many jobs one call reads, and after how many bytes it stops, so that it takes Redis no more than 1 to 4 ms. */
const JOBS_A_CALL = 200;
const BYTES_A_CALL = 1024 * 1024;

/** Reads jobs of one queue in short calls, as many as are needed, all before `giveUpAt`, a time of the link. */
export class RedisListing {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly giveUpAt: number,
    private readonly ordering: OrderingRule = { mode: 'strict' },
  ) {}

  async job(id: string): Promise<StoredJob | undefined> {
    const { connection, keys, giveUpAt } = this;
    const reply = await ask(connection, jobScript(keys), { base: keys.base, id }, giveUpAt, {
      fromBytes: jobFromBytes,
    });
    return readJob(id, reply as unknown as KnownJob);
  }

  /** Calls `tell` for each job of one state, in order, as it arrives. */
  async each(state: JobState, offset: number, limit: number, tell: (job: StoredJob) => void): Promise<void> {
    const { connection, keys, giveUpAt } = this;
    const ids = await this.ids(state, offset, limit);
    const script = jobsScript(keys);
    for (let at = 0; at < ids.length; ) {
      const asked = ids.slice(at, at + JOBS_A_CALL);
      const args = { base: keys.base, bytesLeft: BYTES_A_CALL, ids: asked };
      const replies = await ask(connection, script, args, giveUpAt, { fromBytes: jobsFromBytes });
      at += replies.length;
      for (const [i, reply] of replies.entries()) {
        const job = readJob(asked[i]!, reply as unknown as KnownJob);
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
        return connection.read('list', (client) => client.zrange(keys.active, String(offset), String(end)), giveUpAt);
      case 'dead':
        return connection.read('list', (client) => client.zrevrange(keys.dead, offset, end), giveUpAt);
      case 'completed':
        return connection.read('list', (client) => client.zrevrange(keys.completed, offset, end), giveUpAt);
      default:
        return new WaitingList(connection, keys, giveUpAt, this.ordering).ids(state, offset, limit);
    }
  }
}

import type { NewJob, Transaction } from '../../job-store.js';
import { howChosen, toDueArgument } from '../calls/job-arguments.js';
import { MultiCheck } from '../checks/multi-check.js';
import { encodeRest, encodeRoute } from '../codec/envelope-text.js';
import { declaredKeys, type QueueKeys } from '../keys.js';
import { annotated } from '../link/call-error.js';
import type { RedisConnection } from '../link/connection.js';
import { SCRIPTS } from '../scripts/embedded.js';
import { appendScript } from '../scripts/schedule/contract.js';
import { type Home, type Multi, requireMulti } from './multi.js';

/** What appending to one queue needs. */
interface QueueTraits {
  readonly keys: QueueKeys;
  readonly stealAfterMs: number;
  readonly keepReceiptMs: number;
  /** To be called at each use of the queue. */
  isUsed(): void;
}

/**
 * Appends jobs to MULTIs of the caller. EXEC then runs the script `append`, whose whole source goes along: an EVALSHA that Redis does not know
 * would fail alone, and leave the caller's own commands done.
 */
export class RedisTransactions {
  private readonly check = new MultiCheck();
  private readonly queues = new Map<string, QueueTraits>();

  constructor(
    private readonly connection: RedisConnection,
    private readonly home: Home,
    private readonly traitsOf: (queue: string) => QueueTraits,
    private readonly commandTimeoutMs: number,
  ) {}

  of(multi: unknown): Transaction {
    requireMulti(multi, this.home);
    return { append: (queue, job) => this.append(multi, queue, job) };
  }

  private async append(multi: unknown, queue: string, job: NewJob & { id: string }): Promise<void> {
    const traits = this.queues.get(queue) ?? this.traitsOf(queue);
    this.queues.set(queue, traits);
    const giveUpAt = performance.now() + this.commandTimeoutMs;
    const about = { queue, jobName: job.name, jobId: job.id };
    await annotated(this.check.require(this.connection, traits.keys.jobs, giveUpAt), about);
    const [script, keys, args] = this.commandOf(job, traits);
    // Looked at again, as meanwhile `exec` may have been called.
    const open = requireMulti(multi, this.home);
    open.eval(script, keys.length, ...keys, ...args);
    emptyOnceOver(open);
    traits.isUsed();
  }

  private commandOf(job: NewJob & { id: string }, { keys, stealAfterMs, keepReceiptMs }: QueueTraits) {
    const { clustered } = this.home;
    const script = appendScript(keys);
    const args = script.encode({
      base: keys.base,
      clustered,
      stealAfterMs,
      keepReceiptMs,
      id: job.id,
      chosen: howChosen(job.id),
      route: encodeRoute(job),
      dueOrDelay: toDueArgument(job.due),
      rest: encodeRest(job),
    });
    return [SCRIPTS[script.name].source, declaredKeys(script.keys, clustered), args] as const;
  }
}

/** The errors of ioredis, which `exec` hands to the caller, hold the arguments of their command, and so would show payloads in a log. */
function emptyOnceOver({ _queue, promise }: Multi): void {
  const { args } = _queue.at(-1)!;
  const empty = () => {
    args.length = 0;
  };
  promise.then(empty, empty);
}

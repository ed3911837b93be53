import { createHash } from 'node:crypto';
import { QueueClosedError, QueueUnavailableError } from '../../core/errors.js';
import type { QueueSettings } from '../../core/queue-options.js';
import type { ClaimedJob, Settlement, Turn, TurnAnswer, WorkerSeat } from '../job-store.js';
import { handlesKey, type QueueKeys, sleepersKey, wakeChannel } from '../keys.js';
import { CallSlot } from './call-slot.js';
import type { RedisConnection, ScriptArgument } from './connection.js';
import { toDueArgument } from './due-argument.js';
import type { ServerClock } from './server-clock.js';
import type { WakeListener } from './wake-listener.js';

/** One reply carries at most this much, so that neither Redis nor the worker stalls on it. */
const BYTES_A_CLAIM = 8 * 1024 * 1024;
const NAMES_A_CALL = 1_000;
/** How long Redis remembers which names a group handles; a worker that finds them gone notes them again. */
const KEEP_NAMES_MS = 24 * 3_600_000;
/** A turn's record must outlive every copy of the call that is still on its way. */
const KEEP_RECORD_MS = 600_000;
/** How long one try of a turn may take; then it is sent again, under the same number. */
const TRY_MS = 5_000;

const FIELDS_BEFORE_CLAIMS = 8;
const FIELDS_A_CLAIM = 5;

/** A worker's place at one queue in Redis. */
export class RedisWorkerSeat implements WorkerSeat {
  private readonly slot: CallSlot;
  private readonly group: string;
  private readonly fixedKeys: string[];
  private readonly channel: string;
  /** The turn that was sent last, while no answer has come: the same again is the same call. */
  private unanswered?: Turn;

  constructor(
    private readonly connection: RedisConnection,
    private readonly listener: WakeListener,
    private readonly clock: ServerClock,
    private readonly keys: QueueKeys,
    private readonly worker: string,
    private readonly names: readonly string[],
    private readonly settings: QueueSettings,
    private readonly clustered: boolean,
  ) {
    this.slot = new CallSlot(connection, clock, keys, `${worker}.`);
    this.group = groupOf(names);
    this.channel = wakeChannel(keys, worker);
    this.fixedKeys = [
      keys.jobs,
      keys.claims,
      keys.failures,
      keys.active,
      keys.dead,
      keys.completed,
      keys.finished,
      keys.ended,
      keys.stats,
      keys.levels,
      keys.groups,
      keys.served,
      keys.fence,
      handlesKey(keys, this.group),
      sleepersKey(keys, this.group),
    ];
  }

  async turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    if (turn !== this.unanswered) {
      this.unanswered = turn;
      this.slot.begin();
    }
    const args = this.arguments(turn);
    for (;;) {
      try {
        const reply = await this.slot.send('turn', this.fixedKeys, args, performance.now() + TRY_MS);
        if (reply[0] !== 'unregistered') {
          this.unanswered = undefined;
          return this.read(reply, turn);
        }
        await this.register();
      } catch (error) {
        // Only Redis being away is waited out; what it refuses for good is for the poller to tell.
        if (signal.aborted || error instanceof QueueClosedError || !mayPass(error)) throw error;
      }
    }
  }

  listen(look: (inMs: number) => void): void {
    this.listener.listen(this.channel, (atMs) =>
      look(atMs === undefined || !this.clock.known ? 0 : Math.max(0, atMs - this.clock.at(performance.now()))),
    );
  }

  leave(): void {
    this.listener.unlisten(this.channel);
  }

  private async register(): Promise<void> {
    const { keys, names, group } = this;
    for (let i = 0; i < names.length; i += NAMES_A_CALL) {
      const args = [keys.base, group, KEEP_NAMES_MS, ...names.slice(i, i + NAMES_A_CALL)];
      await this.connection.run('register', [keys.groups, handlesKey(keys, group)], args, performance.now() + TRY_MS);
    }
  }

  private arguments({ settlements, renewals, room, lookFrom }: Turn): ScriptArgument[] {
    const { settings } = this;
    const plain: ScriptArgument[] = [];
    const others: ScriptArgument[] = [];
    for (const settlement of settlements) {
      if (this.leavesNothing(settlement)) plain.push(settlement.id, settlement.fence);
      else others.push(settlement.transition, settlement.id, settlement.fence, ...transitionArguments(settlement));
    }
    return [
      KEEP_RECORD_MS,
      this.clustered ? 1 : 0,
      this.worker,
      this.group,
      this.names.length,
      settings.leaseMs,
      settings.maxSleepMs,
      room,
      BYTES_A_CLAIM,
      lookFrom,
      this.listener.hears(this.channel) ? 1 : 0,
      settings.keepIdsMs,
      settings.keepCompleted.count,
      settings.keepCompleted.ageMs,
      settings.keepDead.count,
      settings.keepDead.ageMs,
      plain.length / 2,
      ...plain,
      others.length / 5,
      ...others,
      renewals.length,
      ...renewals.flatMap(({ id, fence }) => [id, fence]),
    ];
  }

  /** The common end of a job: all of it goes, in one step with its batch. */
  private leavesNothing(settlement: Settlement): boolean {
    return settlement.transition === 'complete' && !settlement.idWasChosen && this.settings.keepCompleted.count === 0;
  }

  private read(reply: unknown[], turn: Turn): TurnAnswer {
    const [, now, bits, lost, recovered, lookAt, fence, lookFrom] = reply as [
      string,
      string,
      string,
      string[],
      string[],
      string,
      string,
      string,
    ];
    const nowMs = Number(now);
    const claimed: ClaimedJob[] = [];
    for (let i = FIELDS_BEFORE_CLAIMS; i < reply.length; i += FIELDS_A_CLAIM) {
      const [id, due, attempt, crashes, envelope] = reply.slice(i, i + FIELDS_A_CLAIM) as string[];
      claimed.push({
        id: id!,
        fence,
        dueAtMs: Number(due),
        claimedAtMs: nowMs,
        attempt: Number(attempt),
        crashes: Number(crashes),
        envelope: envelope!,
      });
    }
    return {
      settled: this.inOrder(turn.settlements, bits),
      lost,
      recovered,
      claimed,
      sleepMs: lookAt === '0' ? undefined : Math.max(0, Number(lookAt) - nowMs),
      lookFrom,
    };
  }

  /** The script settles the plain ones first; its bits are put back into the order of the settlements. */
  private inOrder(settlements: readonly Settlement[], bits: string): boolean[] {
    let plain = 0;
    let other = 0;
    for (const settlement of settlements) if (this.leavesNothing(settlement)) other++;
    return settlements.map((settlement) => bits[this.leavesNothing(settlement) ? plain++ : other++] === '1');
  }
}

function transitionArguments(settlement: Settlement): [ScriptArgument, ScriptArgument] {
  switch (settlement.transition) {
    case 'complete':
      return [settlement.idWasChosen ? 'r' : '', settlement.result ?? ''];
    case 'retry':
      return [settlement.delayMs, settlement.failure];
    case 'dead':
      return [deadFlags(settlement), settlement.failure];
    case 'snooze':
      return [toDueArgument(settlement.due), ''];
    case 'discard':
      return [settlement.idWasChosen ? 'r' : '', ''];
    case 'release':
      return ['', ''];
  }
}

function deadFlags({ ran, failed, idWasChosen }: Extract<Settlement, { transition: 'dead' }>): string {
  return `${ran ? '' : 'n'}${failed ? 'f' : ''}${idWasChosen ? 'r' : ''}`;
}

/** Workers with the same names are one group, whatever order the names come in. */
function groupOf(names: readonly string[]): string {
  return createHash('sha1')
    .update([...names].sort().join('\n'))
    .digest('hex')
    .slice(0, 12);
}

function mayPass(error: unknown): boolean {
  return error instanceof QueueUnavailableError && error.redisCode === undefined;
}

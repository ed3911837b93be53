import { fingerprintOf } from '../../../core/calendar/fingerprint.js';
import { TIME_ZONE_DATA } from '../../../core/calendar/occurrences.js';
import type { Declaration, DeclareAnswer, DeclareStatus, QueueDeclarations } from '../../declarations.js';
import type { Declarer } from '../../recurrences.js';
import type { CallerPool } from '../calls/caller-pool.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import type { ServerClock } from '../link/server-clock.js';
import { declareRecurrenceScript, declareScript, removeOrphanScript } from '../scripts/recur/contract.js';
import { instantsAhead } from './instants-ahead.js';
import { encodeRecord, isReckonedInRedis } from './record-text.js';

/** How many declarations one call names. */
const DECLARED_A_CALL = 500;
/** How often instants are reckoned anew for one declaration, as time has gone on. */
const MOST_TRIES = 5;
/** Of a rule that Redis reckons itself. */
const RECKONED_THERE = '-';
const NO_REVISION = '-';
/** In the place of a digest: all that switch off are the same. */
const OFF = 'off';

const STATUSES: Record<string, DeclareStatus> = { w: 'wins', l: 'loses', u: 'upserted' };

/**
 * The recurrences that applications declare in one queue. The call of every few seconds carries ids and digests alone; what Redis does
 * not know is then sent whole, each by a call of its own.
 */
export class RedisDeclarations implements QueueDeclarations {
  private readonly scripts;
  /** A process declares the same objects again and again. */
  private readonly digests = new WeakMap<Declaration, string>();

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: QueueLink,
    private readonly clock: ServerClock,
    keys: QueueKeys,
    private readonly options: {
      queue: string;
      commandTimeoutMs: number;
      isUsed(): void;
    },
  ) {
    this.scripts = {
      declare: declareScript(keys),
      declareOne: declareRecurrenceScript(keys),
      removeOrphan: removeOrphanScript(keys),
    };
  }

  async declare(
    declarations: readonly Declaration[],
    by: Declarer,
    orphanAfterMs: number,
    removesOrphans = false,
  ): Promise<DeclareAnswer> {
    this.options.isUsed();
    const statuses: DeclareStatus[] = [];
    let { startedAtMs = 0 } = by;
    let orphans: string[] = [];
    for (let from = 0; from === 0 || from < declarations.length; from += DECLARED_A_CALL) {
      const some = declarations.slice(from, from + DECLARED_A_CALL);
      // With the last: by then all have been declared.
      const isLast = from + DECLARED_A_CALL >= declarations.length;
      const [, , startedAt, letters, ...found] = await this.callers.call(this.scripts.declare, {
        app: by.app,
        revision: revisionOf(by),
        began: startedAtMs,
        orphanAfterMs,
        tells: isLast ? (removesOrphans ? 'all' : 'new') : 'none',
        declared: some.flatMap((declaration) => [declaration.id, this.digestOf(declaration)]),
      });
      startedAtMs = Number(startedAt);
      orphans = found;
      for (const [i, declaration] of some.entries()) {
        const status = STATUSES[letters[i]!];
        statuses.push(status ?? (await this.declareOne(declaration, { ...by, startedAtMs }, orphanAfterMs)));
      }
    }
    return { statuses, orphans, startedAtMs };
  }

  async removeOrphan(id: string, app: string, orphanAfterMs: number): Promise<boolean> {
    const [, , isRemoved] = await this.callers.call(this.scripts.removeOrphan, { app, orphanAfterMs, id });
    return isRemoved === '1';
  }

  /** Sends a declaration whole. */
  private async declareOne(declaration: Declaration, by: Declarer, orphanAfterMs: number): Promise<DeclareStatus> {
    const { queue } = this.options;
    const { id } = declaration;
    const given = 'isOff' in declaration ? undefined : declaration;
    const isReckonedHere = given !== undefined && !isReckonedInRedis(given.rule);
    let from = await this.nowMs();
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const call = this.callers.call(
        this.scripts.declareOne,
        {
          app: by.app,
          revision: revisionOf(by),
          startedAt: by.startedAtMs!,
          orphanAfterMs,
          digest: this.digestOf(declaration),
          isOff: given === undefined,
          id,
          ...(given ? encodeRecord(given) : NOTHING),
          zones: TIME_ZONE_DATA,
          reckonedFrom: from,
          list: isReckonedHere ? instantsAhead(given.rule, from, from).list : RECKONED_THERE,
        },
        given?.job.payload.length,
      );
      const [, , status, next] = await call;
      if (status !== 'again') return status;
      from = Number(next);
    }
    throw new Error(`the recurrence '${id}' in queue '${queue}': its instants were over before they arrived.`);
  }

  private digestOf(declaration: Declaration): string {
    const known = this.digests.get(declaration);
    if (known !== undefined) return known;
    const digest = 'isOff' in declaration ? OFF : fingerprintOf(declaration.rule, declaration.job);
    this.digests.set(declaration, digest);
    return digest;
  }

  /** By Redis' clock. */
  private async nowMs(): Promise<number> {
    const { commandTimeoutMs } = this.options;
    if (!this.clock.known) await this.clock.learn(this.connection.now() + commandTimeoutMs);
    return this.clock.at();
  }
}

/** Of a declaration that switches off. */
const NOTHING = { head: '', ruleText: '', route: '', rest: '' };

function revisionOf({ revision }: Declarer): string {
  return revision === undefined ? NO_REVISION : String(revision);
}

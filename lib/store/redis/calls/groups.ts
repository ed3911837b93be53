import { ENDLESS } from '../../../core/constants.js';
import type { GroupSettings } from '../../../core/options/group-options.js';
import type { HeldBy, KnownGroup } from '../../job-store.js';
import { decodeGroup, decodeGroupSettings, encodeGroup, encodeGroupSettings } from '../codec/group-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { ask } from '../scripts/bound-script.js';
import { pauseGroupScript, resumeGroupScript, setGroupScript } from '../scripts/group/contract.js';
import { groupsScript, heldDueScript, knownGroupsScript, nextFreeScript } from '../scripts/look/contract.js';
import type { CallerPool } from './caller-pool.js';

/** How many entries one call of a walk looks at, and of how many groups one tells all: about 1 to 2 ms of Redis each. */
const ENTRIES_A_CALL = 1_000;
const GROUPS_A_CALL = 100;
/** Among so many groups that a claim has held, and so many due lanes that no claim has seen, the held ones are looked for. */
const HELD_LOOKED_AT = 1_000;
const LANES_LOOKED_AT = 1_000;

/** A group is told if one of these walks finds it. */
const WALKS = ['waiting', 'running', 'settings', 'pauses'] as const;

/** How the script is told of a pause without an end. */
const ENDLESS_PAUSE = 'inf';

/** The groups of one queue: what is set for them, and what is known of them. */
export class RedisGroups {
  private readonly base: string;
  /** For scripts that tell which groups are held. */
  private readonly judged: { base: string; groupsRule: string };
  private readonly scripts;

  constructor(
    private readonly callers: CallerPool,
    private readonly connection: QueueLink,
    keys: QueueKeys,
    private readonly options: {
      commandTimeoutMs: number;
      /** What holds for each group, as text. */
      groupsRule: string;
    },
  ) {
    this.base = keys.base;
    this.judged = { base: keys.base, groupsRule: options.groupsRule };
    this.scripts = {
      set: setGroupScript(keys),
      pause: pauseGroupScript(keys),
      resume: resumeGroupScript(keys),
      known: knownGroupsScript(keys),
      groups: groupsScript(keys),
      heldDue: heldDueScript(keys),
      nextFree: nextFreeScript(keys),
    };
  }

  async set(group: string, settings: GroupSettings): Promise<void> {
    await this.callers.call(this.scripts.set, { group: encodeGroup(group), set: encodeGroupSettings(settings) });
  }

  async pause(group: string, forMs: number | undefined): Promise<void> {
    await this.callers.call(this.scripts.pause, { group: encodeGroup(group), pause: forMs ?? ENDLESS_PAUSE });
  }

  async resume(group: string): Promise<void> {
    await this.callers.call(this.scripts.resume, { group: encodeGroup(group) });
  }

  async group(group: string): Promise<KnownGroup> {
    const [known] = await this.known([encodeGroup(group)], this.giveUpAt());
    return known!;
  }

  async groups(limit: number): Promise<KnownGroup[]> {
    const giveUpAt = this.giveUpAt();
    const waiting = new Map<string, number>();
    for (const walk of WALKS) await this.count(walk, waiting, giveUpAt);
    // The texts of groups sort as their names do.
    const most = [...waiting].sort(([a, some], [b, others]) => others - some || compareBytes(a, b)).slice(0, limit);
    const known: KnownGroup[] = [];
    for (let at = 0; at < most.length; at += GROUPS_A_CALL)
      known.push(
        ...(await this.known(
          most.slice(at, at + GROUPS_A_CALL).map(([group]) => group),
          giveUpAt,
        )),
      );
    return known;
  }

  async heldDue(): Promise<number> {
    const giveUpAt = this.giveUpAt();
    // A group of several lanes is told several times.
    const held = new Map<string, number>();
    for (let from = 0; from < HELD_LOOKED_AT + LANES_LOOKED_AT; from += GROUPS_A_CALL) {
      const args = { ...this.judged, listed: HELD_LOOKED_AT, from, count: GROUPS_A_CALL };
      const [looked, ...found] = await ask(this.connection, this.scripts.heldDue, args, giveUpAt);
      for (let i = 0; i < found.length; i += 2) held.set(String(found[i]), Number(found[i + 1]));
      if (looked < GROUPS_A_CALL) break;
    }
    return [...held.values()].reduce((all, due) => all + due, 0);
  }

  async nextFree(): Promise<{ dueAtMs: number | undefined; nowMs: number }> {
    const giveUpAt = this.giveUpAt();
    for (const known: string[] = []; ; ) {
      const args = { ...this.judged, known };
      const [nextDue, now, ...held] = await ask(this.connection, this.scripts.nextFree, args, giveUpAt);
      if (held.length === 0) return { dueAtMs: nextDue === '' ? undefined : Number(nextDue), nowMs: Number(now) };
      known.push(...held);
    }
  }

  private giveUpAt(): number {
    return this.connection.now() + this.options.commandTimeoutMs;
  }

  private async count(walk: (typeof WALKS)[number], waiting: Map<string, number>, giveUpAt: number) {
    for (let from = ''; ; ) {
      const args = { base: this.base, walk, from, count: ENTRIES_A_CALL };
      const [next, ...found] = await ask(this.connection, this.scripts.groups, args, giveUpAt);
      for (let i = 0; i < found.length; i += 2) {
        const group = String(found[i]);
        waiting.set(group, (waiting.get(group) ?? 0) + Number(found[i + 1]));
      }
      if (next === '') return;
      from = next;
    }
  }

  /** `groups`: as `encodeGroup` writes them. */
  private async known(groups: readonly string[], giveUpAt: number): Promise<KnownGroup[]> {
    const args = { ...this.judged, groups: [...groups] };
    const known = await ask(this.connection, this.scripts.known, args, giveUpAt);
    return known.map(([waiting, due, active, set, paused, heldBy, opensAt], i) => ({
      group: decodeGroup(groups[i]!),
      waiting: Number(waiting),
      due: Number(due),
      active: Number(active),
      settings: decodeGroupSettings(set!),
      pausedUntilMs: paused === '0' ? undefined : instantOf(paused!),
      heldBy: heldBy === '' ? undefined : (heldBy as HeldBy),
      opensAtMs: opensAt === '' ? undefined : Number(opensAt),
    }));
  }
}

const instantOf = (text: string) => (Number(text) === ENDLESS ? Number.POSITIVE_INFINITY : Number(text));

const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

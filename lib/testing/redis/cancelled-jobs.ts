import type { ScriptName } from '../../store/redis/scripts/embedded.js';
import { TURN_SCRIPTS } from '../../store/redis/session/redis-session.js';

/** Their jobs have run, or were dead before. */
export const NONE_CANCELLED: ReadonlySet<ScriptName> = new Set([...TURN_SCRIPTS, 'purge']);

/** Notes which waiting jobs a script takes out of a queue for good, whichever call it is of. */
export class CancelledJobs {
  /** What was in the hash of jobs, by key and id. */
  private taken: { key: string; id: string }[] = [];
  private readonly dead = new Set<string>();

  /** To be called before each command of a script that is none of `NONE_CANCELLED`. */
  note(name: string, [key, ...names]: readonly string[]): void {
    if (name === 'HDEL' && key!.endsWith('}:jobs')) for (const id of names) this.taken.push({ key: key!, id });
    if (name === 'ZREM' && key!.endsWith('}:dead')) for (const id of names) this.dead.add(id);
  }

  /** To be called after the script. */
  told(): { key: string; id: string }[] {
    const cancelled = this.taken.filter(({ id }) => !this.dead.has(id));
    this.taken = [];
    this.dead.clear();
    return cancelled;
  }
}

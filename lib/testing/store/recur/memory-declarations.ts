import { fingerprintOf } from '../../../core/calendar/fingerprint.js';
import type {
  Declaration,
  DeclareAnswer,
  Declarer,
  DeclareStatus,
  QueueDeclarations,
} from '../../../store/job-store.js';
import type { MemoryQueue } from '../memory-queue.js';
import type { Steps } from '../steps.js';
import type { Recurrence } from './recurrence.js';

/** The fingerprint of a declaration that switches a recurrence off. */
const OFF = 'off';

/** The recurrences that are declared in a queue in memory. */
export class MemoryDeclarations implements Steps<QueueDeclarations> {
  /** When live processes declared something last: by app and recurrence, and there by fingerprint. */
  private readonly declaredAt = new Map<string, Map<string, number>>();

  /** When processes of an app were heard last, and since when without a gap. */
  private readonly heard = new Map<string, { lastMs: number; sinceMs: number }>();

  constructor(private readonly queue: MemoryQueue) {}

  declare(
    declarations: readonly Declaration[],
    by: Declarer,
    orphanAfterMs: number,
    removesOrphans = false,
  ): DeclareAnswer {
    this.queue.noteUse();
    const startedAtMs = by.startedAtMs ?? this.queue.nowMs();
    const aliveFromMs = this.queue.nowMs() - orphanAfterMs;
    this.noteBeat(by.app, orphanAfterMs / 2);
    const statuses = declarations.map((declaration) =>
      this.declareOne(declaration, { ...by, startedAtMs }, aliveFromMs),
    );
    // A process that has just started cannot tell what the others declare: they may be about to start, after an outage of all.
    const mayTell = startedAtMs <= aliveFromMs && this.heardSince(by.app) <= aliveFromMs;
    const orphans = mayTell ? this.orphans(by.app, aliveFromMs, removesOrphans) : [];
    return { statuses, orphans, startedAtMs };
  }

  removeOrphan(id: string, app: string, orphanAfterMs: number): boolean {
    const found = this.queue.timetable.find(id);
    const aliveFromMs = this.queue.nowMs() - orphanAfterMs;
    if (!found || this.heardSince(app) > aliveFromMs || !this.isOrphan(found, app, aliveFromMs)) return false;
    this.queue.timetable.delete(found);
    return true;
  }

  private declareOne(declaration: Declaration, by: Declarer, aliveFromMs: number): DeclareStatus {
    const { id } = declaration;
    const fingerprint = 'isOff' in declaration ? OFF : fingerprintOf(declaration.rule, declaration.job);
    const found = this.queue.timetable.find(id);
    if (found && !found.owner) return 'upserted';
    // Also who declares the same as the winner becomes the winner: with a higher revision it holds the place against more others.
    const wins = !found || isHigher(by, found.owner!) || !this.isAlive(found, by.app, aliveFromMs);
    this.note(by.app, id, fingerprint);
    if (found?.owner?.app === by.app) found.isToldOrphan = false;
    const isEqual = found?.fingerprint === fingerprint;
    if (!wins) return isEqual ? 'wins' : 'loses';
    const recurrence = isEqual ? found : this.put(declaration, found);
    Object.assign(recurrence, { owner: by, fingerprint });
    return 'wins';
  }

  /** A gap: all that live may be about to declare again, after an outage or where the clock went ahead. */
  private noteBeat(app: string, gapMs: number): void {
    const lastMs = this.queue.nowMs();
    const before = this.heard.get(app);
    const hadGap = !before || before.lastMs < lastMs - gapMs;
    this.heard.set(app, { lastMs, sinceMs: hadGap ? lastMs : before.sinceMs });
  }

  private heardSince(app: string): number {
    return this.heard.get(app)?.sinceMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether a live process declares a recurrence as it is now. After a gap it has as much time to be heard as `app`, which asks. */
  private isAlive(found: Recurrence, app: string, aliveFromMs: number): boolean {
    const owner = found.owner!.app;
    return Math.max(this.lastDeclared(owner, found), this.heardSince(owner), this.heardSince(app)) >= aliveFromMs;
  }

  private put(declaration: Declaration, found: Recurrence | undefined): Recurrence {
    const { timetable } = this.queue;
    if ('isOff' in declaration) return timetable.switchOff(declaration.id);
    if (!found) return timetable.create(declaration);
    if (found.state === 'off') found.state = 'active';
    timetable.change(found, declaration);
    return found;
  }

  private note(app: string, id: string, fingerprint: string): void {
    const key = keyOf(app, id);
    const known = this.declaredAt.get(key) ?? new Map<string, number>();
    this.declaredAt.set(key, known.set(fingerprint, this.queue.nowMs()));
  }

  /** When a process of this app declared a recurrence as it is now. */
  private lastDeclared(app: string, { id, fingerprint }: Recurrence): number {
    return this.declaredAt.get(keyOf(app, id))?.get(fingerprint) ?? Number.NEGATIVE_INFINITY;
  }

  /**
   * All, or those that nobody was told of. What comes to nothing any more is forgotten instead, unless it would begin anew with the next
   * declaration: that counts only among all.
   */
  private orphans(app: string, aliveFromMs: number, isAll: boolean): string[] {
    const { timetable } = this.queue;
    return timetable.ids().filter((id) => {
      const found = timetable.find(id);
      if (!found || (found.isToldOrphan && !isAll) || !this.isOrphan(found, app, aliveFromMs)) return false;
      const isOver = found.state === 'ended' || found.state === 'off';
      if (isOver && !wouldBeginAnew(found)) {
        timetable.delete(found);
        return false;
      }
      found.isToldOrphan = true;
      return isAll || !isOver;
    });
  }

  private isOrphan({ id, owner }: Recurrence, app: string, aliveFromMs: number): boolean {
    const declared = [...(this.declaredAt.get(keyOf(app, id))?.values() ?? [])];
    return owner?.app === app && declared.every((atMs) => atMs < aliveFromMs);
  }
}

/** Nothing else tells how many of its limit have begun. Of one that is off only the next declaration tells whether it has a limit. */
function wouldBeginAnew({ state, rule, count }: Recurrence): boolean {
  return count > 0 && (state === 'off' || rule.limit !== undefined);
}

const keyOf = (app: string, id: string) => `${app}\t${id}`;

/** The higher revision wins, then the later start; no revision is below any. */
function isHigher(a: Declarer, b: Declarer): boolean {
  const [first, second] = [a.revision ?? Number.NEGATIVE_INFINITY, b.revision ?? Number.NEGATIVE_INFINITY];
  return first === second ? a.startedAtMs! > b.startedAtMs! : first > second;
}

import type { SuspectWish, TurnAnswer } from '../store/job-store.js';

/** Anything that may hold jobs in this module instance: the worker of a queue, or a puller. */
export interface Occupant {
  /** True if it holds a job, or a turn under way may claim one. Jobs that have ended and only wait for the next turn do not count. */
  readonly holds: boolean;
  /** True if Redis has yet to hear of a job's end. */
  readonly owes: boolean;
  /** Another occupant wants the process for itself: claim nothing, and leave it to other processes to look. */
  stepBack(): void;
  /** There may be something to claim. */
  look(): void;
}

/**
 * Keeps this module instance free for suspects: jobs with one crash left, which run with nothing else beside them. It is in one
 * of three states:
 * - **shared**: everybody claims. Left when a turn comes back with a reservation.
 * - **reserved**: only the holder claims, only a suspect, and only once nothing else is held. Left when the holder finds no suspect
 *   any more, when its suspect has ended, or when emptying the process has taken too long.
 * - **filling**: everybody claims, and nobody asks for a suspect; the former holder's next turn gives the reservation up and claims
 *   ordinary jobs. Left when that turn is answered. So ordinary jobs are claimed at least once between two suspects.
 */
export class Solitude {
  private readonly occupants = new Set<Occupant>();
  private holder?: Occupant;
  private hasSuspect = false;
  /** The former holder, whose next turn gives the reservation up and claims ordinary jobs. */
  private filler?: Occupant;
  /** Occupants that were given a reservation although another one held the process already. */
  private readonly tooMany = new Set<Occupant>();
  private reservedAt = 0;
  /** How long the process may take to become empty. Doubled after each time in vain: so a long job neither stops all others nor keeps suspects waiting for ever. */
  private patienceMs = 0;
  private restUntil = 0;

  add(occupant: Occupant): void {
    this.occupants.add(occupant);
  }

  /** For an occupant that claims nothing any more, and holds nothing. */
  remove(occupant: Occupant): void {
    this.occupants.delete(occupant);
    this.tooMany.delete(occupant);
    if (this.filler === occupant) this.filler = undefined;
    if (this.holder === occupant) this.share();
  }

  /** Whether this one may claim now. */
  mayClaim(occupant: Occupant): boolean {
    if (this.holder === undefined) return true;
    return this.holder === occupant && !this.hasSuspect && this.isEmptyFor(occupant);
  }

  /** Whether this one holds the process, and has to keep the reservation alive. */
  isHeldBy(occupant: Occupant): boolean {
    return this.holder === occupant;
  }

  /** Whether this one has a reservation to give up. */
  isOneTooMany(occupant: Occupant): boolean {
    return this.tooMany.has(occupant);
  }

  /** The wish of an occupant that stops. */
  lastWish(occupant: Occupant): SuspectWish {
    const isReserved = this.tooMany.delete(occupant) || this.holder === occupant;
    if (this.holder === occupant && !this.hasSuspect) this.share();
    return isReserved ? 'leave' : '';
  }

  /** The wish for this occupant's next turn. `mayReserve`: it can wait for the process to become empty. */
  wish(occupant: Occupant, leaseMs: number, mayReserve: boolean): SuspectWish {
    if (this.tooMany.delete(occupant)) return 'leave';
    if (this.holder !== undefined && this.holder !== occupant) return '';
    if (this.holder === undefined) {
      if (this.filler !== undefined) return '';
      if (this.isEmptyFor(occupant)) return 'take';
      return mayReserve && performance.now() >= this.restUntil ? 'reserve' : '';
    }
    if (this.hasSuspect) return occupant.holds ? 'keep' : this.fill(occupant);
    if (this.isEmptyFor(occupant)) return 'claim';
    this.patienceMs ||= leaseMs;
    if (performance.now() < this.reservedAt + this.patienceMs) return 'keep';
    this.restUntil = performance.now() + this.patienceMs;
    this.patienceMs *= 2;
    return this.fill(occupant);
  }

  /** Takes in the answer of a turn. True if the jobs that it claimed may begin; else they have to go back. */
  answered(occupant: Occupant, wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    if (this.filler === occupant) {
      this.filler = undefined;
      // The next suspect may be waiting already.
      occupant.look();
    }
    if (suspect === undefined) {
      if (this.holder === occupant && wish === 'claim') this.share();
      return true;
    }
    if (this.holder === undefined) this.reserve(occupant);
    else if (this.holder !== occupant) this.tooMany.add(occupant);
    if (suspect === 'reserved') return true;
    const isAlone = this.holder === occupant && this.isEmptyFor(occupant);
    if (isAlone) {
      this.hasSuspect = true;
      this.patienceMs = 0;
    }
    return isAlone;
  }

  /** Something has ended: the process may be empty now. */
  check(): void {
    if (this.holder !== undefined && !this.hasSuspect && this.isEmptyFor(this.holder)) this.holder.look();
  }

  /** True if no other job would die with one that this occupant claims now. Its own ended jobs are settled by the same turn. */
  private isEmptyFor(claimer: Occupant): boolean {
    if (claimer.holds) return false;
    for (const occupant of this.occupants) if (occupant !== claimer && (occupant.holds || occupant.owes)) return false;
    return true;
  }

  private reserve(holder: Occupant): void {
    this.holder = holder;
    this.reservedAt = performance.now();
    for (const occupant of this.occupants) if (occupant !== holder) occupant.stepBack();
  }

  private fill(filler: Occupant): 'leave' {
    this.filler = filler;
    this.share();
    return 'leave';
  }

  private share(): void {
    this.holder = undefined;
    this.hasSuspect = false;
    for (const occupant of this.occupants) occupant.look();
  }
}

import type { SuspectWish, TurnAnswer } from '../store/job-store.js';

/** Whoever may hold jobs in this module instance: the worker of a queue, or a puller. */
export interface Occupant {
  /** Whether it holds a job, or a turn under way may claim one. Jobs that have ended, and go with the next turn, do not count. */
  readonly holds: boolean;
  /** Whether Redis has yet to hear of a job's end. */
  readonly owes: boolean;
  /** Somebody else wants the process for itself: claim nothing, and let others look instead. */
  stepBack(): void;
  /** There may be something to claim. */
  look(): void;
}

/**
 * Keeps this module instance free for suspects: jobs with one crash left, which run with nothing else beside them. It is in one
 * of three states:
 * - **shared**: everybody claims. Left when a turn comes back with a reservation.
 * - **reserved**: nobody claims but its holder, and that one only once nothing else is held; then a suspect. Left when the holder
 *   finds no suspect any more, when its suspect has ended, or when emptying the process has taken too long.
 * - **filling**: the holder's next turn gives the reservation up and claims what others wait for. Left when it is answered.
 */
export class Solitude {
  private readonly occupants = new Set<Occupant>();
  private holder?: Occupant;
  private hasSuspect = false;
  /** Whose turn gives the reservation up, and claims what others wait for. */
  private filler?: Occupant;
  /** Occupants that were given a reservation while another one held the process already. */
  private readonly tooMany = new Set<Occupant>();
  private reservedAt = 0;
  /** How long the process may take to become empty: twice as long after each time in vain, so that long jobs neither stop all others nor keep suspects for ever. */
  private patienceMs = 0;
  private restUntil = 0;

  add(occupant: Occupant): void {
    this.occupants.add(occupant);
  }

  /** It claims nothing any more, and holds nothing. */
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

  /** Whether this one goes on saying that the process is reserved. */
  isHeldBy(occupant: Occupant): boolean {
    return this.holder === occupant;
  }

  /** Whether this one has a reservation to give up. */
  isOneTooMany(occupant: Occupant): boolean {
    return this.tooMany.has(occupant);
  }

  /** What the turn of one says that stops. */
  lastWish(occupant: Occupant): SuspectWish {
    const isReserved = this.tooMany.delete(occupant) || this.holder === occupant;
    if (this.holder === occupant && !this.hasSuspect) this.share();
    return isReserved ? 'leave' : '';
  }

  /** What the next turn of this one says of suspects. `mayReserve`: it can wait for the process to be empty. */
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

  /** Takes in what a turn came to. Answers whether what it claimed may begin; else it goes back. */
  answered(occupant: Occupant, wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    if (this.filler === occupant) {
      this.filler = undefined;
      // The next suspect may be waiting.
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

  /** Whether nothing would die with a job that this one claims; its own ends go with the same turn. */
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

import type { SuspectWish, TurnAnswer } from '../store/job-store.js';

/** Whoever may hold jobs in this module instance: the worker of a queue, or a puller. */
export interface Occupant {
  readonly queue: string;
  /** Whether it may wait for the process to be empty. A puller does not: whoever pops decides when a popped job ends. */
  readonly mayReserve: boolean;
  /** Whether it holds a job, or a turn under way may claim one. Jobs that have ended, and go with the next turn, do not count. */
  readonly holds: boolean;
  /** Whether a handler of it goes on, be it one whose outcome no longer counts. */
  readonly isRunning: boolean;
  /** Whether Redis has yet to hear of a job's end. */
  readonly owes: boolean;
  /** Somebody else wants the process for itself: claim nothing, and let others look instead. */
  stepBack(): void;
  /** There may be something to claim. */
  look(): void;
}

/** How many leases at the most a process waits in vain, be it to become empty or for a place under `globalConcurrency`. */
const MOST_LEASES = 8;

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
  /** Since when the suspect's outcome counts no longer though its handler goes on. */
  private lingersSince?: number;
  /** The process is empty, and its suspect only waits for a place under `globalConcurrency`. */
  private awaitsPlace = false;
  /** Whose turn gives the reservation up, and claims what others wait for. */
  private filler?: Occupant;
  /** Occupants that were given a reservation while another one held the process already. */
  private readonly tooMany = new Set<Occupant>();
  private reservedAt = 0;
  /** How long a suspect is waited for: twice as long after each time in vain, so that long jobs neither stop all others nor keep suspects for ever. */
  private patienceMs = 0;
  private restUntil = 0;
  private restsFromPlaces = false;

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

  /** Whether this one has a reservation to give up: it was one too many, or its suspect has ended. */
  hasToLeave(occupant: Occupant): boolean {
    if (this.tooMany.has(occupant)) return true;
    return this.holder === occupant && this.hasSuspect && !occupant.holds && !occupant.isRunning;
  }

  /** What the turn of one says that waits for suspects no longer. */
  lastWish(occupant: Occupant): SuspectWish {
    const isReserved = this.tooMany.delete(occupant) || this.holder === occupant;
    if (this.holder === occupant && !(this.hasSuspect && occupant.holds)) this.share();
    return isReserved ? 'leave' : '';
  }

  /** What the next turn of this one says of suspects. */
  wish(occupant: Occupant, leaseMs: number): SuspectWish {
    if (this.tooMany.delete(occupant)) return 'leave';
    const now = performance.now();
    if (this.holder === undefined) return this.seek(occupant, now);
    if (this.holder !== occupant) return '';
    if (this.hasSuspect) return this.isSuspectOver(occupant, leaseMs, now) ? this.fill(occupant) : 'keep';
    const isEmpty = this.isEmptyFor(occupant);
    this.patienceMs ||= leaseMs;
    if ((isEmpty && !this.awaitsPlace) || now < this.reservedAt + this.patienceMs) return isEmpty ? 'claim' : 'keep';
    this.restUntil = now + this.patienceMs;
    this.restsFromPlaces = this.awaitsPlace;
    this.patienceMs = Math.min(2 * this.patienceMs, MOST_LEASES * leaseMs);
    return this.fill(occupant);
  }

  /** Takes in what a turn came to. Answers whether what it claimed may begin; else it goes back. */
  answered(occupant: Occupant, wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    // Of one that has stopped meanwhile: it could never give the process up again.
    if (!this.occupants.has(occupant)) return suspect !== 'taken';
    if (this.filler === occupant) {
      this.filler = undefined;
      // The next suspect may be waiting.
      occupant.look();
    }
    if (suspect === undefined) {
      if (this.holder === occupant && wish === 'claim') {
        this.patienceMs = 0;
        this.share();
      }
      return true;
    }
    const isAlone = suspect === 'taken' && (this.holder ?? occupant) === occupant && this.isEmptyFor(occupant);
    if (this.holder === undefined && (isAlone || suspect === 'reserved' || occupant.mayReserve)) this.reserve(occupant);
    // Those of one queue share the reservation.
    else if (this.holder !== occupant && this.holder?.queue !== occupant.queue) this.tooMany.add(occupant);
    if (this.holder === occupant) this.awaitsPlace = suspect === 'reserved' && (wish === 'take' || wish === 'claim');
    if (suspect === 'reserved') return true;
    if (isAlone) {
      this.hasSuspect = true;
      this.patienceMs = 0;
    }
    return isAlone;
  }

  /** Something of this one has ended: the process may be empty now. Its own turns tell the holder itself when to look. */
  check(ended: Occupant): void {
    const { holder } = this;
    if (holder !== undefined && holder !== ended && !this.hasSuspect && this.isEmptyFor(holder)) holder.look();
  }

  private seek(occupant: Occupant, now: number): SuspectWish {
    if (this.filler !== undefined) return '';
    const rests = now < this.restUntil;
    if (this.isEmptyFor(occupant)) return rests && this.restsFromPlaces ? '' : 'take';
    return occupant.mayReserve && !rests ? 'reserve' : '';
  }

  /** Others would die with a handler that goes on after its time; but one that never returns keeps the process for a lease only. */
  private isSuspectOver(occupant: Occupant, leaseMs: number, now: number): boolean {
    if (occupant.holds) return false;
    if (!occupant.isRunning) return true;
    this.lingersSince ??= now;
    return now >= this.lingersSince + leaseMs;
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
    this.awaitsPlace = false;
    this.lingersSince = undefined;
    for (const occupant of this.occupants) occupant.look();
  }
}

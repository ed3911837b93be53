import type { Clock } from '../../core/clock.js';
import type { SuspectWish, TurnAnswer } from '../../store/job-store.js';

/** Anything that may hold jobs in this module instance: the worker of a queue, or a puller. */
export interface Occupant {
  readonly queue: string;
  /** True if it may wait for the process to become empty. Not a puller: how long a popped job takes is up to the application. */
  readonly mayReserve: boolean;
  /** True if it holds a job, or a turn in flight may claim one. Jobs that have ended and only wait for the next turn do not count. */
  readonly holds: boolean;
  /** True if one of its handlers has not returned, even where its outcome no longer counts. */
  readonly isRunning: boolean;
  /** True if Redis has yet to hear of a job's end. */
  readonly owes: boolean;
  /** Another occupant wants the process for itself: claim nothing, and leave it to other processes to look. */
  stepBack(): void;
  /** There may be something to claim. */
  look(): void;
}

/** How many leases at the most a process waits, for being empty or for a place under `globalConcurrency`, before it goes on with other jobs. */
const MOST_LEASES = 8;

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
  /** Since when the suspect's outcome has been settled although its handler goes on. */
  private lingersSince?: number;
  /** The process is empty, and its suspect only waits for a place under `globalConcurrency`. */
  private awaitsPlace = false;
  /** The former holder, whose next turn gives the reservation up and claims ordinary jobs. */
  private filler?: Occupant;
  /** Occupants that left a suspect waiting because their process was not empty: they look again once it is, as nobody else tells them. */
  private readonly toLookAgain = new Set<Occupant>();
  /** Occupants that were given a reservation although another one held the process already. */
  private readonly tooMany = new Set<Occupant>();
  private reservedAt = 0;
  /** How long a suspect is waited for. Doubled after each time in vain: so a long job neither stops all others nor keeps suspects waiting for ever. */
  private waitsForMs = 0;
  private restUntil = Number.NEGATIVE_INFINITY;
  private restsFromPlaces = false;

  constructor(private readonly clock: Clock) {}

  add(occupant: Occupant): void {
    this.occupants.add(occupant);
  }

  /** For an occupant that claims nothing any more, and holds nothing. */
  remove(occupant: Occupant): void {
    this.occupants.delete(occupant);
    this.tooMany.delete(occupant);
    this.toLookAgain.delete(occupant);
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

  /** Whether this one has a reservation to give up: a second one beside the holder's, or its own after its suspect has ended. */
  hasToLeave(occupant: Occupant): boolean {
    if (this.tooMany.has(occupant)) return true;
    return this.holder === occupant && this.hasSuspect && !occupant.holds && !occupant.isRunning;
  }

  /** The wish of an occupant that waits for suspects no longer. */
  lastWish(occupant: Occupant): SuspectWish {
    const isReserved = this.tooMany.delete(occupant) || this.holder === occupant;
    if (this.holder === occupant && !(this.hasSuspect && occupant.holds)) this.share();
    return isReserved ? 'leave' : '';
  }

  /** The wish for this occupant's next turn. */
  wish(occupant: Occupant, leaseMs: number): SuspectWish {
    this.toLookAgain.delete(occupant);
    if (this.tooMany.delete(occupant)) return 'leave';
    const now = this.clock.now();
    if (this.holder === undefined) return this.seek(occupant, now);
    if (this.holder !== occupant) return '';
    if (this.hasSuspect) return this.isSuspectOver(occupant, leaseMs, now) ? this.fill(occupant) : 'keep';
    const isEmpty = this.isEmptyFor(occupant);
    this.waitsForMs ||= leaseMs;
    if ((isEmpty && !this.awaitsPlace) || now < this.reservedAt + this.waitsForMs) return isEmpty ? 'claim' : 'keep';
    this.restUntil = now + this.waitsForMs;
    this.restsFromPlaces = this.awaitsPlace;
    this.waitsForMs = Math.min(2 * this.waitsForMs, MOST_LEASES * leaseMs);
    return this.fill(occupant);
  }

  /** Takes in the answer of a turn. True if the jobs that it claimed may begin; else they have to go back. */
  answered(occupant: Occupant, wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    // The occupant has stopped meanwhile: it could never give a reservation up again.
    if (!this.occupants.has(occupant)) return suspect !== 'taken';
    if (this.filler === occupant) {
      this.filler = undefined;
      // The next suspect may be waiting already.
      occupant.look();
    }
    if (suspect === undefined || suspect === 'waits') {
      if (suspect === 'waits') this.toLookAgain.add(occupant);
      if (this.holder === occupant && wish === 'claim') {
        this.waitsForMs = 0;
        this.share();
      }
      return true;
    }
    const isAlone = suspect === 'taken' && (this.holder ?? occupant) === occupant && this.isEmptyFor(occupant);
    if (this.holder === undefined && (isAlone || suspect === 'reserved' || occupant.mayReserve)) this.reserve(occupant);
    // Occupants of one queue share the reservation.
    else if (this.holder !== occupant && this.holder?.queue !== occupant.queue) this.tooMany.add(occupant);
    if (this.holder === occupant) this.awaitsPlace = suspect === 'reserved' && (wish === 'take' || wish === 'claim');
    if (suspect === 'reserved') return true;
    if (isAlone) {
      this.hasSuspect = true;
      this.waitsForMs = 0;
    }
    return isAlone;
  }

  /** A turn of `ended` was answered: the process may be empty now. A holder need not be told of its own jobs: its turns say when to look. */
  check(ended: Occupant): void {
    const { holder } = this;
    if (holder !== undefined && holder !== ended && !this.hasSuspect && this.isEmptyFor(holder)) holder.look();
    if (holder === undefined && this.filler === undefined) this.lookAgain();
  }

  /** One at a time: of two turns under way each would find the process not empty again. */
  private lookAgain(): void {
    if (this.restsFromPlaces && this.clock.now() < this.restUntil) return;
    for (const occupant of this.toLookAgain) {
      if (!this.isEmptyFor(occupant)) continue;
      this.toLookAgain.delete(occupant);
      occupant.look();
      return;
    }
  }

  private seek(occupant: Occupant, now: number): SuspectWish {
    if (this.filler !== undefined) return '';
    const rests = now < this.restUntil;
    if (this.isEmptyFor(occupant)) return rests && this.restsFromPlaces ? '' : 'take';
    return occupant.mayReserve && !rests ? 'reserve' : '';
  }

  /** Other jobs could still die with a suspect's handler that goes on after its time. So it keeps the process, but for one lease only. */
  private isSuspectOver(occupant: Occupant, leaseMs: number, now: number): boolean {
    if (occupant.holds) return false;
    if (!occupant.isRunning) return true;
    this.lingersSince ??= now;
    return now >= this.lingersSince + leaseMs;
  }

  /** True if no other job would die with one that this occupant claims now. Its own ended jobs are settled by the same turn. */
  private isEmptyFor(claimer: Occupant): boolean {
    if (claimer.holds) return false;
    for (const occupant of this.occupants) if (occupant !== claimer && (occupant.holds || occupant.owes)) return false;
    return true;
  }

  private reserve(holder: Occupant): void {
    this.holder = holder;
    this.reservedAt = this.clock.now();
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

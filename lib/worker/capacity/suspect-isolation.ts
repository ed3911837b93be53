import type { Clock } from '../../core/clock.js';
import type { SuspectWish, TurnAnswer } from '../../store/job-store.js';

/** Who may hold jobs in this module instance: the worker of a queue, or a puller. */
export interface JobHolder {
  readonly queue: string;
  /** True if it may wait for the process to become empty. Not a puller: how long a popped job takes is up to the application. */
  readonly mayReserve: boolean;
  /** True if it holds a job, or a turn in flight may claim one. Jobs that have ended and only wait for the next turn do not count. */
  readonly holds: boolean;
  /** True if one of its handlers has not returned, even where its outcome no longer counts. */
  readonly isRunning: boolean;
  /** True if Redis has yet to hear of a job's end. */
  readonly owes: boolean;
  /** The process is reserved for another one: claim nothing, and leave it to other processes to look. */
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
 * - **reserved** for one holder: nobody else claims, and this one claims a suspect, once nothing else is held. Left when it finds no
 *   suspect any more, when its suspect has ended, or when emptying the process has taken too long.
 * - **given up**: everybody claims, and nobody asks for a suspect. The next turn of the one that it was reserved for gives the reservation
 *   up in Redis and claims ordinary jobs. Left when that turn is answered. So ordinary jobs are claimed at least once between two suspects.
 */
export class SuspectIsolation {
  private readonly holders = new Set<JobHolder>();
  private reservedFor?: JobHolder;
  private hasSuspect = false;
  /** Since when the suspect's outcome has been settled although its handler goes on. */
  private lingersSince?: number;
  /** The process is empty, and its suspect only waits for a place under `globalConcurrency`. */
  private awaitsPlace = false;
  /** For whom it was reserved until now: its next turn gives the reservation up and claims ordinary jobs. */
  private formerHolder?: JobHolder;
  /** Who left a suspect waiting because the process was not empty: they look again once it is, as nobody else tells them. */
  private readonly toLookAgain = new Set<JobHolder>();
  /** Who were given a reservation although the process was reserved for another one already. */
  private readonly extraReservations = new Set<JobHolder>();
  private reservedAt = 0;
  /** How long a suspect is waited for. Doubled after each time in vain: so a long job neither stops all others nor keeps suspects waiting for ever. */
  private waitsForMs = 0;
  private restUntil = Number.NEGATIVE_INFINITY;
  private restsFromPlaces = false;

  constructor(private readonly clock: Clock) {}

  add(holder: JobHolder): void {
    this.holders.add(holder);
  }

  /** For one that claims nothing any more, and holds nothing. */
  remove(holder: JobHolder): void {
    this.holders.delete(holder);
    this.extraReservations.delete(holder);
    this.toLookAgain.delete(holder);
    if (this.formerHolder === holder) this.formerHolder = undefined;
    if (this.reservedFor === holder) this.share();
  }

  /** Whether this one may claim now. */
  mayClaim(holder: JobHolder): boolean {
    if (this.reservedFor === undefined) return true;
    return this.reservedFor === holder && !this.hasSuspect && this.isEmptyFor(holder);
  }

  /** Whether the process is reserved for this one, which has to keep the reservation alive. */
  isReservedFor(holder: JobHolder): boolean {
    return this.reservedFor === holder;
  }

  /** Whether this one has a reservation to give up: one beside another holder's, or its own after its suspect has ended. */
  hasToLeave(holder: JobHolder): boolean {
    if (this.extraReservations.has(holder)) return true;
    return this.reservedFor === holder && this.hasSuspect && !holder.holds && !holder.isRunning;
  }

  /** The wish of one that waits for suspects no longer. */
  lastWish(holder: JobHolder): SuspectWish {
    const isReserved = this.extraReservations.delete(holder) || this.reservedFor === holder;
    if (this.reservedFor === holder && !(this.hasSuspect && holder.holds)) this.share();
    return isReserved ? 'leave' : '';
  }

  /** The wish for this one's next turn. */
  wish(holder: JobHolder, leaseMs: number): SuspectWish {
    this.toLookAgain.delete(holder);
    if (this.extraReservations.delete(holder)) return 'leave';
    const now = this.clock.now();
    if (this.reservedFor === undefined) return this.seek(holder, now);
    if (this.reservedFor !== holder) return '';
    if (this.hasSuspect) return this.isSuspectOver(holder, leaseMs, now) ? this.endReservation(holder) : 'keep';
    const isEmpty = this.isEmptyFor(holder);
    this.waitsForMs ||= leaseMs;
    if ((isEmpty && !this.awaitsPlace) || now < this.reservedAt + this.waitsForMs) return isEmpty ? 'claim' : 'keep';
    this.restUntil = now + this.waitsForMs;
    this.restsFromPlaces = this.awaitsPlace;
    this.waitsForMs = Math.min(2 * this.waitsForMs, MOST_LEASES * leaseMs);
    return this.endReservation(holder);
  }

  /** Takes in the answer of a turn. True if the jobs that it claimed may begin; else they have to go back. */
  answered(holder: JobHolder, wish: SuspectWish, suspect: TurnAnswer['suspect']): boolean {
    // It has stopped meanwhile: it could never give a reservation up again.
    if (!this.holders.has(holder)) return suspect !== 'taken';
    if (this.formerHolder === holder) {
      this.formerHolder = undefined;
      // The next suspect may be waiting already.
      holder.look();
    }
    if (suspect === undefined || suspect === 'waits') {
      if (suspect === 'waits') this.toLookAgain.add(holder);
      if (this.reservedFor === holder && wish === 'claim') {
        this.waitsForMs = 0;
        this.share();
      }
      return true;
    }
    const isAlone = suspect === 'taken' && (this.reservedFor ?? holder) === holder && this.isEmptyFor(holder);
    if (this.reservedFor === undefined && (isAlone || suspect === 'reserved' || holder.mayReserve))
      this.reserve(holder);
    // Those of one queue share the reservation.
    else if (this.reservedFor !== holder && this.reservedFor?.queue !== holder.queue)
      this.extraReservations.add(holder);
    if (this.reservedFor === holder) this.awaitsPlace = suspect === 'reserved' && (wish === 'take' || wish === 'claim');
    if (suspect === 'reserved') return true;
    if (isAlone) {
      this.hasSuspect = true;
      this.waitsForMs = 0;
    }
    return isAlone;
  }

  /** A turn of `ended` was answered: the process may be empty now. Whom it is reserved for need not be told of its own jobs: its turns say when to look. */
  check(ended: JobHolder): void {
    const { reservedFor } = this;
    if (reservedFor === undefined) {
      if (this.formerHolder === undefined) this.lookAgain();
    } else if (reservedFor !== ended && !this.hasSuspect && this.isEmptyFor(reservedFor)) reservedFor.look();
  }

  /** One at a time: of two turns under way each would find the process not empty again. */
  private lookAgain(): void {
    if (this.restsFromPlaces && this.clock.now() < this.restUntil) return;
    for (const holder of this.toLookAgain) {
      if (!this.isEmptyFor(holder)) continue;
      this.toLookAgain.delete(holder);
      holder.look();
      return;
    }
  }

  private seek(holder: JobHolder, now: number): SuspectWish {
    if (this.formerHolder !== undefined) return '';
    const rests = now < this.restUntil;
    if (this.isEmptyFor(holder)) return rests && this.restsFromPlaces ? '' : 'take';
    return holder.mayReserve && !rests ? 'reserve' : '';
  }

  /** Other jobs could still die with a suspect's handler that goes on after its time. So it keeps the process, but for one lease only. */
  private isSuspectOver(holder: JobHolder, leaseMs: number, now: number): boolean {
    if (holder.holds) return false;
    if (!holder.isRunning) return true;
    this.lingersSince ??= now;
    return now >= this.lingersSince + leaseMs;
  }

  /** True if no other job would die with one that `claimer` claims now. Its own ended jobs are settled by the same turn. */
  private isEmptyFor(claimer: JobHolder): boolean {
    if (claimer.holds) return false;
    for (const holder of this.holders) if (holder !== claimer && (holder.holds || holder.owes)) return false;
    return true;
  }

  private reserve(reservedFor: JobHolder): void {
    this.reservedFor = reservedFor;
    this.reservedAt = this.clock.now();
    for (const holder of this.holders) if (holder !== reservedFor) holder.stepBack();
  }

  private endReservation(formerHolder: JobHolder): 'leave' {
    this.formerHolder = formerHolder;
    this.share();
    return 'leave';
  }

  private share(): void {
    this.reservedFor = undefined;
    this.hasSuspect = false;
    this.awaitsPlace = false;
    this.lingersSince = undefined;
    for (const holder of this.holders) holder.look();
  }
}

import type { ClaimedJob } from '../../store/job-store.js';

/** The jobs of one answer. */
interface Batch {
  readonly claims: readonly ClaimedJob[];
  /** When the turn was sent that asked for them, by `clock.now()`. */
  readonly askedAt: number;
  next: number;
}

/** Claimed jobs that wait for a place, in the order in which they came. */
export class WaitingClaims {
  private readonly batches: Batch[] = [];
  /** How many have been taken since none waited. */
  taken = 0;

  get any(): boolean {
    return this.batches.length > 0;
  }

  /** At least one. */
  add(claims: readonly ClaimedJob[], askedAt: number): void {
    if (!this.any) this.taken = 0;
    this.batches.push({ claims, askedAt, next: 0 });
  }

  /** When the first one was asked for. There must be one. */
  get askedAt(): number {
    return this.batches[0]!.askedAt;
  }

  /** Takes the first one out. There must be one. */
  shift(): ClaimedJob {
    const batch = this.batches[0]!;
    const claim = batch.claims[batch.next++]!;
    if (batch.next === batch.claims.length) this.batches.shift();
    this.taken++;
    return claim;
  }

  /** Takes all out. */
  takeAll(): readonly ClaimedJob[] {
    return this.batches.splice(0).flatMap(({ claims, next }) => claims.slice(next));
  }
}

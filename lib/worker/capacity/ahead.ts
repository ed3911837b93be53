import type { Clock } from '../../core/clock.js';
import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';
import { FEWEST_JOBS, MOST_JOBS } from './turn-size.js';

/** With so many times its concurrency two processes drained 1.1 times what one does, with three times 1.07, with two 0.77. */
const TIMES_CONCURRENCY = 4;
/** All that is claimed ahead is to begin within this. */
const IN_TIME_MS = 10;
/**
 * Of an answer Redis sends 64 KiB at once (`NET_MAX_WRITES_PER_EVENT`), and what its last block holds beyond; the rest only when
 * it has run what others have sent meanwhile. 500 jobs of 100 bytes are more than that, and drained no faster than 100.
 */
const SENT_AT_ONCE_BYTES = 72 * 1_024;
/** What an answer says of a claimed job beside its payload and its name, about: its id, fence and times. */
const BESIDE_PAYLOAD_BYTES = 68;
/** What headers come to, about: mostly they are those of a trace. */
const HEADERS_BYTES = 100;
/** Handlers that are quick now and then make jobs go back: so that many claims in a row have to be over at once. */
const CLAIMS_TO_BE_QUICK = 8;

/**
 * The strategy of claiming ahead: more jobs than there are places for. Handlers that return at once have left all places before the
 * next turn is written, and what costs most is then that workers and Redis wait for each other, once a turn: so a turn takes more with
 * it. No more run at once for that. A job that finds no place waits for one, and goes back where there is none before the round of the
 * event loop is over. So nothing that waits has to be renewed or cancelled.
 */
export class Ahead {
  private quickClaims = 0;
  /** Claims of which nobody knows yet whether their jobs are over at once. */
  private unjudged = 0;
  /** Of the last claim. */
  private claimedJobs = 0;
  private claimedBytes = 0;
  private claimedAt = 0;

  constructor(
    private readonly concurrency: number,
    private readonly clock: Clock,
  ) {}

  /** False below 16 places and from 500 on: few places are few for a reason, and a turn carries no more than 500 jobs. */
  get isWorthIt(): boolean {
    return this.concurrency >= FEWEST_JOBS && this.concurrency < MOST_JOBS;
  }

  /** A turn has claimed these. */
  claimed(claims: readonly ClaimedJob[]): void {
    this.unjudged++;
    this.claimedJobs = claims.length;
    this.claimedAt = this.clock.now();
    this.claimedBytes = 0;
    for (const { envelope } of claims) this.claimedBytes += bytesOf(envelope);
  }

  /** Whether what was claimed ahead may still begin. */
  get isInTime(): boolean {
    return this.clock.now() < this.claimedAt + IN_TIME_MS;
  }

  /** True if all that was claimed so far is over within the round of the event loop in which it was claimed. */
  judge(areOver: boolean): void {
    if (this.unjudged === 0) return;
    this.quickClaims = areOver ? this.quickClaims + this.unjudged : 0;
    this.unjudged = 0;
  }

  /** How many jobs one turn may claim: no more than fit into an answer that is sent at once, unless there are places for them. */
  get mostATurn(): number {
    const fitting = Math.floor((SENT_AT_ONCE_BYTES / this.claimedBytes) * this.claimedJobs) || 0;
    return Math.min(Math.max(fitting, this.concurrency), MOST_JOBS);
  }

  /** How many jobs may be in hand, begun or not, where so many places are free. */
  window(free: number): number {
    const { concurrency, claimedJobs } = this;
    if (this.quickClaims < CLAIMS_TO_BE_QUICK || free < concurrency || claimedJobs === 0) return free;
    const ahead = Math.min(TIMES_CONCURRENCY * concurrency, 2 * this.mostATurn);
    const msEach = (this.clock.now() - this.claimedAt) / claimedJobs;
    return msEach * ahead <= IN_TIME_MS ? Math.max(ahead, free) : free;
  }
}

function bytesOf(envelope: ClaimedJob['envelope']): number {
  if (!isReadable(envelope)) return BESIDE_PAYLOAD_BYTES;
  const headers = envelope.settings.headers === undefined ? 0 : HEADERS_BYTES;
  return envelope.payload.length + envelope.name.length + BESIDE_PAYLOAD_BYTES + headers;
}

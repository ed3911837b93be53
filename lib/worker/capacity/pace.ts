import { isReadable } from '../../store/envelope.js';
import type { ClaimedJob } from '../../store/job-store.js';

/** With so many times its concurrency two processes drained 1.1 times what one does, with three times 1.07, with two 0.77. */
const TIMES_CONCURRENCY = 4;
/** All that a turn has claimed ahead is to begin within this. */
const AHEAD_MS = 10;
/**
 * Of an answer Redis sends 64 KiB at once (`NET_MAX_WRITES_PER_EVENT`), and what its last block holds beyond; the rest only when
 * it has run what others have sent meanwhile. 500 jobs of 100 bytes are more than that, and drained no faster than 100.
 */
const SENT_AT_ONCE_BYTES = 72 * 1_024;
/** What an answer says of a claimed job beside its payload and its name, about: its id, fence and times. */
const BESIDE_PAYLOAD_BYTES = 68;
/** What headers come to, about: mostly they are those of a trace. */
const HEADERS_BYTES = 100;
/** Handlers that are quick now and then make jobs go back: so that many turns in a row have to be over at once. */
const TURNS_TO_BE_QUICK = 8;

/** How quickly the jobs of a turn are over, and so how many more than there are places the next one claims. */
export class Pace {
  private turnsOver = 0;
  private claimed = 0;
  private claimedAt = 0;
  private bytes = 0;
  /** Whether all were over in the round of the event loop in which they were claimed; undefined where nobody knows yet. */
  private areOver?: boolean;

  constructor(private readonly concurrency: number) {}

  /** A turn has claimed these. */
  note(claims: readonly ClaimedJob[]): void {
    this.claimed = claims.length;
    this.claimedAt = performance.now();
    this.bytes = 0;
    for (const { envelope } of claims) this.bytes += bytesOf(envelope);
    this.areOver = undefined;
  }

  /** Whether what was claimed ahead may still begin. */
  get isInTime(): boolean {
    return performance.now() < this.claimedAt + AHEAD_MS;
  }

  /** The round of the event loop is over; `allOver`: and all that was claimed. */
  roundOver(allOver: boolean): void {
    this.areOver ??= allOver;
  }

  /** What a turn asks for that goes now, with so many places free, at most `most`. It is counted, so ask once a turn. */
  takeRoom(free: number, most: number): number {
    const { concurrency, claimed } = this;
    // Mostly a turn goes out in the same round.
    this.areOver ??= free === concurrency;
    this.turnsOver = this.areOver ? this.turnsOver + 1 : 0;
    if (this.turnsOver < TURNS_TO_BE_QUICK || free < concurrency || claimed === 0) return free;
    const fitting = Math.floor((SENT_AT_ONCE_BYTES / this.bytes) * claimed);
    const ahead = Math.min(TIMES_CONCURRENCY * concurrency, fitting, most);
    const msEach = (performance.now() - this.claimedAt) / claimed;
    return msEach * ahead <= AHEAD_MS ? Math.max(ahead, free) : free;
  }
}

function bytesOf(envelope: ClaimedJob['envelope']): number {
  if (!isReadable(envelope)) return BESIDE_PAYLOAD_BYTES;
  const headers = envelope.settings.headers === undefined ? 0 : HEADERS_BYTES;
  return envelope.payload.length + envelope.name.length + BESIDE_PAYLOAD_BYTES + headers;
}

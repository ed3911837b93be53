import type { SessionHints } from '../../job-store.js';
import { processOf, type QueueKeys, wakeChannel } from '../keys.js';
import type { MessageLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import type { Hear } from '../link/wake-listener.js';

/** The wire's word for a wish to cancel a job: whoever holds it has to renew its lease, and hears of the wish then. */
const CANCEL_MESSAGE = 'cancel';
/**
 * A hint that is older than the last answered turn is put off by so much. In a busy queue the next turn comes sooner, and makes the look needless. It
 * is not dropped: where Redis' clock was set back in between, the hint only looks older.
 */
const SEEN_HINT_DELAY_MS = 100;

/** By what a session hears hints: its own channel, and that of its process, where jobs are told that prefer the process. */
export class HintChannel {
  private readonly own: string;
  private readonly channels: ReadonlySet<string>;
  private hear?: Hear;
  private turnsUnderWay = 0;
  /** What is heard while a turn is under way: when to look, in Redis' time. The answer tells whether the turn has seen the reason. */
  private heldBack: number[] = [];
  /** Redis' time in the last turn that was answered, in ms and µs. */
  private seenUntil = Number.NEGATIVE_INFINITY;
  private hints?: SessionHints;

  constructor(
    private readonly listener: MessageLink,
    private readonly clock: ServerClock,
    keys: QueueKeys,
    sessionId: string,
  ) {
    this.own = wakeChannel(keys, sessionId);
    this.channels = new Set([this.own, wakeChannel(keys, processOf(sessionId))]);
  }

  /** Whether messages to this session arrive at present. */
  get hears(): boolean {
    return this.listener.hears(this.own);
  }

  listen(hints: SessionHints): void {
    this.hints = hints;
    this.hear = (message) => {
      // Heard anew: whatever was said meanwhile was said to nobody.
      if (message === undefined || message === CANCEL_MESSAGE) hints.cancel();
      if (message === CANCEL_MESSAGE) return;
      const atMs = Number(message ?? 0);
      // A message that is no time comes from somebody else.
      if (Number.isNaN(atMs)) return;
      if (this.turnsUnderWay > 0) this.heldBack.push(atMs);
      else this.tell(atMs);
    };
    for (const channel of this.channels) this.listener.listen(channel, this.hear);
  }

  leave(): void {
    for (const channel of this.channels) if (this.hear) this.listener.unlisten(channel, this.hear);
    this.hints = undefined;
    this.heldBack = [];
  }

  /** Call this before a turn of the session is sent. */
  turnGoesOut(): void {
    this.turnsUnderWay++;
  }

  /** Call this once the turn is answered or has failed. `seenMs`: Redis' time when it read the queue; nothing where it failed, or had run before. */
  turnIsBack(seenMs = Number.NEGATIVE_INFINITY): void {
    this.turnsUnderWay--;
    // Not the later one: after Redis' clock was set back, the last turn is right.
    if (seenMs !== Number.NEGATIVE_INFINITY) this.seenUntil = seenMs;
    if (this.heldBack.length === 0) return;
    const heldBack = this.heldBack;
    this.heldBack = [];
    for (const atMs of heldBack) this.tell(atMs);
  }

  private tell(atMs: number): void {
    const { clock, hints } = this;
    const inMs = clock.known ? Math.max(0, clock.until(atMs)) : 0;
    hints?.look(this.isSeen(atMs) ? Math.max(inMs, SEEN_HINT_DELAY_MS) : inMs);
  }

  /** A message tells now with its µs, so of two things in one ms it is known which came first; a whole ms does not tell. */
  private isSeen(atMs: number): boolean {
    return atMs < this.seenUntil && !Number.isInteger(atMs);
  }
}

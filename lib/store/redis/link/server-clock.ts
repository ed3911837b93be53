import type { QueueKeys } from '../keys.js';
import { ask } from '../scripts/bound-script.js';
import { clockScript } from '../scripts/server/contract.js';
import type { QueueLink } from './queue-link.js';

/** Less is not worth a word. */
const JUMP_MS = 1_000;
/** How far clocks may drift apart: twice as much as NTP slews them. */
const DRIFT = 0.001;

/** Redis' time as last heard, carried on by the monotonic clock of its link. No wall clock of a process is ever asked. */
export class ServerClock {
  private offsetMs = Number.NaN;

  private heardAt = Number.NEGATIVE_INFINITY;
  /** By how much the offset may be larger: the time for which the last reply may have been under way. */
  private roomMs = 0;

  constructor(
    private readonly link: Pick<QueueLink, 'run' | 'now'>,
    private readonly keys: QueueKeys,
    /** Called where Redis' clock went so many ms ahead of the link's monotonic clock, or back where they are negative. */
    private readonly jumped: (byMs: number) => void,
  ) {}

  get known(): boolean {
    return !Number.isNaN(this.offsetMs);
  }

  /** Notes what a reply that has just come said. Its call was sent at `sentAt`, a time of the link. */
  note(serverNowMs: number, sentAt: number): void {
    const now = this.link.now();
    const offsetMs = serverNowMs - now;
    const roomMs = now - sentAt;
    // By as much as no reply that was long under way, or lay unread, explains; none of these is a jump where nothing was heard before.
    const aheadMs = offsetMs - (this.offsetMs + this.roomMs);
    const backMs = this.offsetMs - (offsetMs + roomMs);
    const leastMs = JUMP_MS + (now - this.heardAt) * DRIFT;
    if (aheadMs > leastMs) this.jumped(aheadMs);
    else if (backMs > leastMs) this.jumped(-backMs);
    this.offsetMs = offsetMs;
    this.roomMs = roomMs;
    this.heardAt = now;
  }

  async learn(giveUpAt: number): Promise<void> {
    const sentAt = this.link.now();
    this.note(Number(await ask(this.link, clockScript(this.keys), {}, giveUpAt)), sentAt);
  }

  /** How long from now it is until Redis' time is `serverMs`, in ms and fractions. */
  until(serverMs: number): number {
    return serverMs - this.offsetMs - this.link.now();
  }

  /** Redis' time in whole ms, now or at another time of the link. */
  at(monotonicMs = this.link.now()): number {
    return Math.round(monotonicMs + this.offsetMs);
  }
}

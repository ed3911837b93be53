import type { SessionHints } from '../../job-store.js';
import { processOf, type QueueKeys, wakeChannel } from '../keys.js';
import type { MessageLink } from '../link/redis-link.js';
import type { ServerClock } from '../link/server-clock.js';
import type { Hear } from '../link/wake-listener.js';

/** The wire's word for a wish to cancel a job: whoever holds it has to renew its lease, and hears of the wish then. */
const CANCEL_MESSAGE = 'cancel';

/** By what a session hears hints: its own channel, and that of its process, where jobs are told that prefer the process. */
export class HintChannel {
  private readonly own: string;
  private readonly channels: ReadonlySet<string>;
  private hear?: Hear;

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
    this.hear = (message) => {
      // Heard anew: whatever was said meanwhile was said to nobody.
      if (message === undefined || message === CANCEL_MESSAGE) hints.cancel();
      if (message === CANCEL_MESSAGE) return;
      const atMs = Number(message ?? 0);
      // A message that is no time comes from somebody else.
      if (Number.isNaN(atMs)) return;
      hints.look(this.clock.known ? Math.max(0, this.clock.until(atMs)) : 0);
    };
    for (const channel of this.channels) this.listener.listen(channel, this.hear);
  }

  leave(): void {
    for (const channel of this.channels) if (this.hear) this.listener.unlisten(channel, this.hear);
  }
}

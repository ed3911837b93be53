import type { Session, SessionHints, Turn, TurnAnswer } from '../../store/job-store.js';
import type { ScriptName } from '../../store/redis/scripts/embedded.js';
import { TURN_SCRIPTS } from '../../store/redis/session/redis-session.js';
import { nextInstant } from './next-instant.js';
import { ProcessSession } from './process-session.js';
import type { QueueInside } from './queue-inside.js';

const NONE_RENEWED: ReadonlySet<string> = new Set();

/**
 * A session of pops, which sleeps until time changes something. In production it looks at least every third of a lease, in case a message was
 * lost or somebody has died, and each look would be an instant here. As the queue takes a session for dead that sleeps longer, it is told here of
 * what is done to the queue.
 */
export class PullSession extends ProcessSession {
  private readonly longestMs: number;
  private hints?: SessionHints;
  /** While it sleeps for longer than in production. */
  private lookAtMs?: number;

  constructor(
    session: Session,
    private readonly queue: QueueInside,
  ) {
    super(session, queue.outage);
    const { maxSleepMs, leaseMs } = queue.settings;
    this.longestMs = Math.floor(Math.min(maxSleepMs, leaseMs / 3));
  }

  override async turn(turn: Turn, signal: AbortSignal, heard?: () => void): Promise<TurnAnswer> {
    this.lookAtMs = undefined;
    const answer = await super.turn(turn, signal, heard);
    if (answer.sleepMs === undefined || answer.sleepMs < this.longestMs) return answer;
    this.lookAtMs = nextInstant(this.queue, NONE_RENEWED).atMs;
    answer.sleepMs = this.lookAtMs - this.queue.nowMs();
    return answer;
  }

  override listen(hints: SessionHints): void {
    this.hints = hints;
    super.listen(hints);
  }

  override leave(): void {
    this.hints = undefined;
    super.leave();
  }

  /** A script has run. What is due after a turn was left by it to others, or to nobody. */
  hasRun(script: ScriptName): void {
    if (this.lookAtMs === undefined) return;
    const nowMs = this.queue.nowMs();
    const isDue = !TURN_SCRIPTS.has(script) && [...this.queue.heads()].some(({ dueAtMs }) => dueAtMs <= nowMs);
    const atMs = isDue ? nowMs : nextInstant(this.queue, NONE_RENEWED).atMs;
    if (atMs >= this.lookAtMs) return;
    this.lookAtMs = atMs;
    void Promise.resolve().then(() => this.hints?.look(atMs - nowMs));
  }
}

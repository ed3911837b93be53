import { FIRST_ALONE, FIRST_VERSION } from '../../../core/job/job-versions.js';
import type { CallSize } from '../../../store/call-size.js';
import type {
  Envelope,
  Session,
  SessionHints,
  SessionNames,
  StuckHandlers,
  Turn,
  TurnAnswer,
} from '../../../store/job-store.js';
import type { MemoryQueue } from '../memory-queue.js';
import { type HandledNames, handlesVersion } from '../presence.js';
import type { Listener } from '../sleepers.js';
import { runTurn } from './run-turn.js';

/** Who was here is noted so many times a lease. */
const NOTES_A_LEASE = 4;
const NO_CALLS: ReadonlyMap<string, CallSize> = new Map();

/** The talk of one consumer with a queue in memory. */
export class MemorySession implements Session, Listener {
  readonly key: string;
  readonly crew: string;
  private readonly concurrency: number;
  private readonly handled: HandledNames | undefined;
  private hints?: SessionHints;
  private isNotedUntilMs = Number.NEGATIVE_INFINITY;
  private tellsOfStuck = false;
  private hasLeft = false;

  constructor(
    private readonly queue: MemoryQueue,
    readonly worker: string,
    kind: 'worker' | 'pull',
    /** Every name, also those to come, where there are none. */
    names: readonly string[] | undefined,
    /** Of a worker: in which versions it takes its names, and how large their calls are. Others take all versions. */
    private readonly handling?: Pick<SessionNames, 'versions' | 'calls'>,
  ) {
    this.concurrency = kind === 'worker' ? queue.settings.concurrency : 0;
    const versionsOf = (name: string) => handling && (handling.versions?.get(name) ?? FIRST_ALONE);
    this.handled = names && new Map(names.map((name) => [name, versionsOf(name)]));
    this.crew = JSON.stringify([...(this.handled ?? [])].sort());
    this.key = `${worker} ${kind} ${this.crew}`;
  }

  turn(turn: Turn, signal: AbortSignal): Promise<TurnAnswer> {
    const { outage } = this.queue;
    // A refused turn would be sent again each second, and so each second of virtual time would be an instant.
    if (outage.isOn && !signal.aborted) return outage.end(signal).then(() => this.turn(turn, signal));
    return this.queue.answer(() => {
      this.queue.noteUse();
      const answer = runTurn(this.queue, this, turn);
      this.notePresence(turn);
      return answer;
    });
  }

  listen(hints: SessionHints): void {
    this.hints = hints;
    this.queue.sleepers.open(this);
    // From now on it is told: whatever was said before was said to nobody.
    this.queue.clock.soon(() => {
      this.cancel();
      this.look(0);
    });
  }

  leave(): void {
    this.hints = undefined;
    this.queue.sleepers.close(this);
  }

  handles({ name, version = FIRST_VERSION }: Pick<Envelope, 'name' | 'version'>): boolean {
    return handlesVersion(this.handled, name, version);
  }

  look(inMs: number): void {
    this.hints?.look(inMs);
  }

  cancel(): void {
    this.hints?.cancel();
  }

  private notePresence({ isLast, stuck }: Turn): void {
    const nowMs = this.queue.nowMs();
    // In turns after its last one, which only settle, it is not there again.
    this.hasLeft ||= isLast;
    if (this.hasLeft) this.queue.presence.leave(this.key);
    else if (stuck || this.tellsOfStuck || nowMs >= this.isNotedUntilMs) {
      this.isNotedUntilMs = nowMs + this.queue.settings.leaseMs / NOTES_A_LEASE;
      this.tellsOfStuck = stuck !== undefined;
      const { key, worker, handled, concurrency } = this;
      const calls = this.handling?.calls ?? NO_CALLS;
      const present = { worker, handled, session: key, concurrency, calls, seenAtMs: nowMs };
      this.queue.presence.note(key, stuck ? { ...present, stuck: since(stuck, nowMs) } : present);
    }
  }
}

function since({ forMs, ...stuck }: StuckHandlers, nowMs: number) {
  return { ...stuck, sinceMs: nowMs - forMs };
}

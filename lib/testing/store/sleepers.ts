import type { Clock } from '../../core/clock.js';
import type { Envelope } from '../../store/envelope.js';
import type { Job } from './job.js';

/** The time of a store. */
export type StoreClock = Pick<Clock, 'wallNow' | 'soon'>;

/** What the others know of a session. */
export interface Listener {
  /** Who it is: the same for a session that was opened again. */
  readonly key: string;
  readonly worker: string;
  /** Sessions of the same names are a crew. */
  readonly crew: string;
  handles(job: Pick<Envelope, 'name' | 'version'>): boolean;
  look(inMs: number): void;
  cancel(): void;
}

interface Sleeper {
  readonly session: Listener;
  lookAtMs: number;
  /** Names whose handlers have no place: the session is not told of jobs of these names. */
  readonly full: ReadonlySet<string>;
}

/** Sessions that wait for something to become due, and are told where something becomes due earlier than they know. */
export class Sleepers {
  private readonly sleeping = new Map<string, Sleeper>();
  private readonly listening = new Set<Listener>();

  constructor(
    private readonly clock: StoreClock,
    private readonly stealAfterMs: number,
    private readonly nowMs: () => number,
  ) {}

  open(session: Listener): void {
    this.listening.add(session);
  }

  close(session: Listener): void {
    this.listening.delete(session);
  }

  sleep(session: Listener, lookAtMs: number, full: ReadonlySet<string>): void {
    this.sleeping.set(session.key, { session, lookAtMs, full });
  }

  wake(session: Listener): void {
    this.sleeping.delete(session.key);
  }

  /**
   * A job waits, from now on or for another instant than before. The worker that it prefers is told for when the job is due, the others
   * for when they may take it. `except`: that session knows already.
   */
  tellOf({ envelope, dueAtMs }: Job, preferred: string | undefined, except?: Listener): void {
    let atMs = dueAtMs;
    if (preferred !== undefined) {
      const own = [...this.listening].filter((session) => session !== except && session.worker === preferred);
      for (const session of own) this.tell(session, dueAtMs);
      // Where nobody hears that worker's messages it is gone.
      if (own.length > 0 || except?.worker === preferred) atMs += this.stealAfterMs;
    }
    this.tellAll(atMs, (session, full) => session !== except && session.handles(envelope) && !full.has(envelope.name));
  }

  /** Tells all sleepers that fit and would look later than this. */
  tellAll(atMs: number, fits: (session: Listener, full: ReadonlySet<string>) => boolean = () => true): void {
    for (const sleeper of this.sleeping.values()) {
      if (sleeper.lookAtMs <= atMs || !fits(sleeper.session, sleeper.full)) continue;
      sleeper.lookAtMs = atMs;
      this.tell(sleeper.session, atMs);
    }
  }

  /** The sleepers that have a place for such a job. */
  *withPlaceFor(envelope: Envelope): Generator<Listener> {
    for (const { session, full } of this.sleeping.values())
      if (session.handles(envelope) && !full.has(envelope.name)) yield session;
  }

  /** False where nobody listens. */
  tell(session: Listener, atMs: number): boolean {
    if (!this.listening.has(session)) return false;
    this.clock.soon(() => session.look(Math.max(0, atMs - this.nowMs())));
    return true;
  }

  hears(session: Listener): boolean {
    return this.listening.has(session);
  }

  /** A job that this session holds is to be cancelled. */
  cancel(key: string): void {
    for (const session of this.listening) if (session.key === key) this.clock.soon(() => session.cancel());
  }
}

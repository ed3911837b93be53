import type { Session, SessionHints, Turn, TurnAnswer } from '../../store/job-store.js';
import type { Outage } from './outage.js';

/** A session that waits while Redis is away: a refused turn would be sent again and again, and each time would be an instant. */
export class ProcessSession implements Session {
  constructor(
    protected readonly session: Session,
    private readonly outage: Outage,
  ) {}

  get trouble(): Error | undefined {
    return this.outage.trouble;
  }

  async turn(turn: Turn, signal: AbortSignal, heard?: () => void): Promise<TurnAnswer> {
    while (this.outage.isOn && !signal.aborted) await this.outage.end(signal);
    return this.session.turn(turn, signal, heard);
  }

  listen(hints: SessionHints): void {
    this.session.listen(hints);
  }

  leave(): void {
    this.session.leave();
  }
}

import type { ClaimedJob, Session, Turn, TurnAnswer } from '../../lib/store/job-store.js';

const never = new AbortController().signal;

/** A session with turns of which a test says only what matters to it. */
export class SessionTurns {
  constructor(
    readonly session: Session,
    private readonly signal: AbortSignal = never,
  ) {}

  turn(turn: Partial<Turn> = {}): Promise<TurnAnswer> {
    return this.session.turn(
      {
        settlements: [],
        renewals: [],
        limit: 0,
        handlers: [],
        isLast: false,
        standing: 'stays',
        suspects: '',
        ...turn,
      },
      this.signal,
    );
  }

  async claim(limit = 10): Promise<readonly ClaimedJob[]> {
    // As a process that holds nothing: a suspect comes alone.
    return (await this.turn({ limit, suspects: 'take' })).claimed;
  }
}

import type { Occupant } from './solitude.js';
import type { TurnDraft } from './turn-draft.js';

/** What an occupancy asks of its owner, and tells it. */
export interface OccupancyOwner {
  /** Whether it holds a job, beside what its turns under way may claim. */
  holdsAny(): boolean;
  /** Whether a handler of it goes on. */
  isRunning(): boolean;
  stepBack(): void;
  look(): void;
}

/** A worker or a puller as one of those that may hold jobs in this process. */
export class Occupancy implements Occupant {
  constructor(
    readonly queue: string,
    readonly mayReserve: boolean,
    private readonly draft: TurnDraft,
    private readonly owner: OccupancyOwner,
  ) {}

  get holds(): boolean {
    return this.draft.roomUnderWay > 0 || this.owner.holdsAny();
  }

  get isRunning(): boolean {
    return this.owner.isRunning();
  }

  get owes(): boolean {
    return this.draft.unsettled > 0;
  }

  stepBack(): void {
    this.owner.stepBack();
  }

  look(): void {
    this.owner.look();
  }
}

import type { TurnDraft } from '../session/turn-draft.js';
import type { Occupant } from './solitude.js';

/** The worker or puller behind an occupancy. */
export interface OccupancyOwner {
  /** True if it holds a job. Jobs that its turns under way may claim are not asked for here. */
  holdsAny(): boolean;
  /** True if one of its handlers has not returned. */
  isRunning(): boolean;
  stepBack(): void;
  look(): void;
}

/** A worker or a puller, as `Solitude` sees it: something that may hold jobs in this process. */
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

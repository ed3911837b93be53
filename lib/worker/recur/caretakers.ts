import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { JobStore, TurnAnswer } from '../../store/job-store.js';
import { Caretaker } from './caretaker.js';

/**
 * Who looks after recurrences in this module instance: one for each queue that has any and is talked with here, be it by a worker,
 * pulls or relays. A queue without recurrences costs nothing.
 */
export class Caretakers {
  private readonly byQueue = new Map<string, Caretaker>();

  constructor(
    private readonly store: Pick<JobStore, 'queue'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** A turn of `listener`, a session of the queue, was answered. Without a word about recurrences nothing follows. */
  hear(queue: string, listener: object, { tendInMs, short }: Pick<TurnAnswer, 'tendInMs' | 'short'>): void {
    if (tendInMs === undefined && short.length === 0) return;
    let caretaker = this.byQueue.get(queue);
    if (!caretaker) {
      const { recurrences } = this.store.queue(queue);
      caretaker = new Caretaker(queue, recurrences, this.clock, this.log, () => this.dismiss(queue));
      this.byQueue.set(queue, caretaker);
    }
    caretaker.hear(listener, tendInMs, short);
  }

  /** The session of `listener` has ended. After that of the last one nobody here looks after its queue. */
  leave(queue: string, listener: object): void {
    if (this.byQueue.get(queue)?.leave(listener)) this.dismiss(queue);
  }

  private dismiss(queue: string): void {
    this.byQueue.get(queue)!.stop();
    this.byQueue.delete(queue);
  }
}

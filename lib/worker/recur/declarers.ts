import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { JobStore } from '../../store/job-store.js';
import { type Declared, Declarer, type DeclarerOptions } from './declarer.js';

/** What this process declares: one declarer for each queue in which it declares anything. May be started and stopped again and again. */
export class Declarers {
  private readonly declarers: Declarer[] = [];

  constructor(
    private readonly store: JobStore,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly options: DeclarerOptions,
  ) {}

  /** To be called before `start`, once for each queue. */
  add(queue: string, declared: readonly Declared[]): void {
    const { store, clock, log, options } = this;
    this.declarers.push(new Declarer(queue, store.queue(queue).declarations, declared, clock, log, options));
  }

  start(): void {
    for (const declarer of this.declarers) declarer.start();
  }

  stop(): void {
    for (const declarer of this.declarers) declarer.stop();
  }
}

import { encodeEnvelopeRest, encodeHead } from '../envelope.js';
import type { NewJob } from '../job-store.js';
import type { ScriptArgument } from './connection.js';
import { toDueArgument } from './due-argument.js';
import { howChosen } from './how-chosen.js';

/** Jobs as arguments of the script `schedule`: those in a row that share head, due time and kind of id say these once. */
export class SharedArguments {
  readonly arguments: ScriptArgument[] = [];
  private last?: NewJob;
  private chosen = '';
  private head = '';
  private due: ScriptArgument = '';
  /** Where the number of jobs stands of those that share. */
  private countAt = 0;

  add(job: NewJob, id: string): void {
    if (!this.shares(job)) this.begin(job);
    this.arguments[this.countAt] = (this.arguments[this.countAt] as number) + 1;
    this.arguments.push(id, encodeEnvelopeRest(job, job.id !== undefined));
    this.last = job;
  }

  private begin(job: NewJob): void {
    this.chosen = job.id === undefined ? '' : howChosen(job.id);
    this.head = encodeHead(job);
    this.due = toDueArgument(job.due);
    this.countAt = this.arguments.length;
    this.arguments.push(0, this.chosen, this.head, this.due);
  }

  private shares(job: NewJob): boolean {
    const { last } = this;
    if (!last || toDueArgument(job.due) !== this.due) return false;
    if ((job.id === undefined ? '' : howChosen(job.id)) !== this.chosen) return false;
    const { name, priority, worker, lateness } = job;
    if (name === last.name && priority === last.priority && worker === last.worker && lateness === last.lateness)
      return true;
    return encodeHead(job) === this.head;
  }
}

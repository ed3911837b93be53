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
  private due: ScriptArgument = '';
  /** Where the number of jobs stands of those that share. */
  private countAt = 0;

  add(job: NewJob, id: string): void {
    const chosen = job.id === undefined ? '' : howChosen(job.id);
    const due = toDueArgument(job.due);
    if (chosen !== this.chosen || due !== this.due || !this.sharesHead(job)) this.begin(job, chosen, due);
    this.arguments[this.countAt] = (this.arguments[this.countAt] as number) + 1;
    this.arguments.push(id, encodeEnvelopeRest(job, job.id !== undefined));
    this.last = job;
  }

  private begin(job: NewJob, chosen: string, due: ScriptArgument): void {
    this.chosen = chosen;
    this.due = due;
    this.countAt = this.arguments.length;
    this.arguments.push(0, chosen, encodeHead(job), due);
  }

  /** Told by what a head is made of, so that none is made for a job that shares it. */
  private sharesHead({ name, priority, worker, lateness }: NewJob): boolean {
    const { last } = this;
    return (
      last !== undefined &&
      name === last.name &&
      priority === last.priority &&
      worker === last.worker &&
      lateness?.onLate === last.lateness?.onLate &&
      lateness?.maxLatenessMs === last.lateness?.maxLatenessMs
    );
  }
}

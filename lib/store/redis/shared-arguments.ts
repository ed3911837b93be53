import { encodeHead, encodeMiddle } from '../envelope.js';
import type { NewJob } from '../job-store.js';
import type { ScriptArgument } from './connection.js';
import { toDueArgument } from './due-argument.js';
import { howChosen } from './how-chosen.js';

/** Jobs in a row that have all but id and payload in common. */
interface Batch {
  chosen: string;
  due: ScriptArgument;
  head: string;
  middle: string;
  ids: string[];
  payloads: string[];
}

/** Jobs as arguments of the script `schedule`: what those in a row have in common is said once. */
export class SharedArguments {
  private readonly batches: Batch[] = [];
  private last?: NewJob;

  add(job: NewJob, id: string): void {
    const batch = this.batchFor(job);
    batch.ids.push(id);
    batch.payloads.push(job.payload);
    this.last = job;
  }

  toArguments(): ScriptArgument[] {
    const all: ScriptArgument[] = [];
    for (const { chosen, due, head, middle, ids, payloads } of this.batches) {
      all.push(ids.length, chosen, head, due, middle);
      // Made ones are of one length, and an argument costs more than what is cut out of one.
      if (chosen === '') all.push(ids.join(''));
      else all.push(...ids);
      all.push(...payloads);
    }
    return all;
  }

  private batchFor(job: NewJob): Batch {
    const { last } = this;
    const batch = this.batches.at(-1);
    const chosen = job.id === undefined ? '' : howChosen(job.id);
    const due = toDueArgument(job.due);
    if (batch && last && batch.chosen === chosen && batch.due === due && sharesHead(job, last)) {
      if (job.settings === last.settings && job.tags === last.tags) return batch;
      if (batch.middle === encodeMiddle(job, chosen !== '')) return batch;
    }
    const begun = {
      chosen,
      due,
      head: encodeHead(job),
      middle: encodeMiddle(job, chosen !== ''),
      ids: [],
      payloads: [],
    };
    this.batches.push(begun);
    return begun;
  }
}

/** Told by what a head is made of, so that none is made for a job that shares it. */
function sharesHead(job: NewJob, { name, priority, worker, lateness }: NewJob): boolean {
  return (
    job.name === name &&
    job.priority === priority &&
    job.worker === worker &&
    job.lateness?.onLate === lateness?.onLate &&
    job.lateness?.maxLatenessMs === lateness?.maxLatenessMs
  );
}

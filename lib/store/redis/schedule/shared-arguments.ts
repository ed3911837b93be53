import type { ScheduleStatus } from '../../../core/job/scheduled-job.js';
import type { NewJob } from '../../job-store.js';
import { howChosen, toDueArgument } from '../calls/job-arguments.js';
import { encodeCodec, encodeFlags, encodeRoute, encodeSettings, withPayload } from '../codec/envelope-text.js';
import type { ScriptArgument } from '../scripts/bound-script.js';

/** Jobs in a row that differ in id, due and the end of the envelope alone. */
interface Row {
  first: NewJob;
  chosen: string;
  route: string;
  /** What the third line of the envelope begins with. */
  codec: string;
  /** What stands between the time and the end: flags and tags, and where no job has settings the line that they would stand in. */
  middle: string;
  haveSettings: boolean;
  ids: string[];
  dues: number[];
  /** Whether all of these are equal. */
  shareDue: boolean;
  ends: ScriptArgument[];
}

/** Jobs as arguments of the script `schedule`: what those in a row have in common is said once. */
export class SharedArguments {
  private readonly rows: Row[] = [];

  add(job: NewJob, id: string): void {
    const settings = encodeSettings(job.settings);
    const row = this.rowFor(job, settings !== '');
    const due = toDueArgument(job.due);
    row.ids.push(id);
    row.dues.push(due);
    row.shareDue &&= due === row.dues[0];
    // Each may have settings of its own, such as the header that traces it; where none has any, the payload goes as it is.
    row.ends.push(withPayload(settings === '' ? '' : `${row.codec}${settings}\n`, job.payload));
  }

  toArguments(): ScriptArgument[] {
    const all: ScriptArgument[] = [];
    for (const { chosen, route, middle, ids, dues, shareDue, ends } of this.rows) {
      all.push(ids.length, chosen, route, shareDue ? dues[0]! : '', middle);
      // Made ones are of one length, and an argument costs more than what is cut out of one.
      if (chosen === '') all.push(ids.join(''));
      else all.push(...ids);
      if (!shareDue) all.push(...dues);
      all.push(...ends);
    }
    return all;
  }

  private rowFor(job: NewJob, haveSettings: boolean): Row {
    const row = this.rows.at(-1);
    const chosen = job.id === undefined ? '' : howChosen(job.id);
    const codec = encodeCodec(job);
    const mayShare =
      row &&
      row.codec === codec &&
      row.chosen === chosen &&
      row.haveSettings === haveSettings &&
      sharesRoute(job, row.first);
    // Those of a definition are the very same object.
    if (mayShare && job.tags === row.first.tags) return row;
    const middle = encodeFlags(chosen !== '', job.tags) + (haveSettings ? '' : `${codec}\n`);
    if (mayShare && row.middle === middle) return row;
    const begun = {
      first: job,
      chosen,
      route: encodeRoute(job),
      codec,
      middle,
      haveSettings,
      ids: [],
      dues: [],
      shareDue: true,
      ends: [],
    };
    this.rows.push(begun);
    return begun;
  }
}

/** Compares what a route is made of, so that none is made for a job that shares it. */
function sharesRoute(job: NewJob, { name, version, priority, worker, group, lateness }: NewJob): boolean {
  return (
    job.name === name &&
    job.version === version &&
    job.priority === priority &&
    job.worker === worker &&
    job.group === group &&
    job.lateness?.onLate === lateness?.onLate &&
    job.lateness?.maxLatenessMs === lateness?.maxLatenessMs
  );
}

/** The letters with which the scripts `schedule` and `replace` answer. */
const STATUSES: Record<string, ScheduleStatus> = {
  '1': 'created',
  r: 'replaced',
  q: 'queued',
  w: 'waiting',
  a: 'active',
  d: 'dead',
  e: 'ended',
  t: 'taken',
};

export function statusOf(letter: string): ScheduleStatus {
  const status = STATUSES[letter];
  if (!status) throw new Error(`a schedule script answered '${letter}', expected one of ${Object.keys(STATUSES)}`);
  return status;
}

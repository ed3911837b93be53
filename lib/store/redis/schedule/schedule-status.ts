import type { ScheduleStatus } from '../../../core/job/scheduled-job.js';

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

import type { FailedAttempt, InspectedJob } from '../../api/inspection/inspected-job.js';
import { errorLine } from '../../core/error-description.js';
import type { Style } from './style.js';
import { type Column, table } from './table.js';
import { dueness, fromNow } from './time.js';

/** What one failure says, in one line. */
export function failureLine({ name = 'Error', message = '', code, cause, stack }: FailedAttempt): string {
  return errorLine({ name, message, code, cause, stack, isError: true });
}

/** The last failure of a job, in one line; '' where there is none. */
export function lastError({ failures }: InspectedJob): string {
  const last = failures.at(-1);
  return last ? failureLine(last) : '';
}

type ShownColumn = Column & { cell(job: InspectedJob, nowMs: number): string };

const ID: ShownColumn = { title: 'id', cell: ({ id }) => id };
const NAME: ShownColumn = { title: 'name', most: 30, cell: ({ name }) => name };
const STATE: ShownColumn = { title: 'state', cell: ({ state }) => state };
const DUE: ShownColumn = { title: 'due', cell: ({ dueAt }, nowMs) => dueness(dueAt, nowMs) };
const ATTEMPTS: ShownColumn = { title: 'attempts', side: 'right', cell: ({ attempts }) => String(attempts) };
const PRIORITY: ShownColumn = { title: 'priority', side: 'right', cell: ({ priority }) => String(priority) };
const ERROR: ShownColumn = { title: 'last error', most: 'rest', cell: lastError };
const ended = (title: string): ShownColumn => ({
  title,
  cell: ({ endedAt }, nowMs) => (endedAt ? fromNow(endedAt, nowMs) : '-'),
});

/** What is shown of jobs, by their state; `find` may show those of several. */
const COLUMNS: Record<string, readonly ShownColumn[]> = {
  scheduled: [ID, NAME, DUE, PRIORITY, ATTEMPTS, ERROR],
  due: [ID, NAME, DUE, PRIORITY, ATTEMPTS, ERROR],
  active: [
    ID,
    NAME,
    ATTEMPTS,
    { title: 'worker', most: 40, cell: ({ worker = '-' }) => worker },
    {
      title: 'lease ends',
      cell: ({ leaseUntil }, nowMs) => (leaseUntil ? fromNow(leaseUntil, nowMs) : '-'),
    },
  ],
  completed: [ID, NAME, ended('completed'), ATTEMPTS],
  dead: [ID, NAME, ended('died'), { title: 'reason', cell: ({ reason = '-' }) => reason }, ERROR],
  any: [ID, STATE, NAME, { ...DUE, cell: ({ dueAt }, nowMs) => fromNow(dueAt, nowMs) }, ATTEMPTS, ERROR],
};

export function jobTable(state: string, jobs: readonly InspectedJob[], nowMs: number, style: Style): string {
  const columns = COLUMNS[state]!;
  return table(
    columns,
    jobs.map((job) => columns.map(({ cell }) => cell(job, nowMs))),
    style,
  );
}

import type { InspectedJob } from '../../api/inspection/inspected-job.js';
import { type Command, EXIT, type Next } from '../command.js';
import { failureLine } from '../text/jobs.js';
import { pairs } from '../text/table.js';
import { fromNow } from '../text/time.js';
import { wrap } from '../text/words.js';
import { requireIds } from '../usage-error.js';

/** So many lines of a payload are shown. */
const LINES = 40;
/** A longer value is broken into lines. */
const LINE_CHARACTERS = 80;

export const show: Command = {
  operands: '<queue> <id>',
  takes: { queue: 'needed', more: 1 },
  summary: 'all that is known of a job',
  options: [],
  check: ({ operands }) => requireIds('show', operands),
  async run({ queue, operands: [id = ''], instance, redaction, style, next }) {
    const found = await instance.inspector.job({ id, queue });
    if (!found) {
      return {
        json: null,
        notes: [`Queue '${queue}' has no job '${id}'.`],
        hint: next(['What may have become of it', 'explain', queue, id]),
        code: EXIT.missed,
      };
    }
    const job = redaction.redactJob(found);
    const nowMs = await instance.now();
    return {
      json: job,
      notes: isUnread(found) ? [unread(found)] : [],
      text: () => {
        const rows = Object.entries(job).map(([key, value]) => [key, shown(value, nowMs)] as const);
        const commands: Next[] = [
          ['Why it has not run, or what has become of it', 'explain', queue, id],
          ['All of it, payload and stacks as well', 'show', queue, id, '--json'],
        ];
        return `${pairs(rows, style)}\n\n${next(...commands)}`;
      },
    };
  },
};

/** Whether only who knows its codec can read its payload. Of a job that has ended none is kept. */
function isUnread({ codec, payload, state }: InspectedJob): boolean {
  return codec !== undefined && payload === undefined && state !== 'discarded' && state !== 'cancelled';
}

const unread = ({ codec }: InspectedJob) =>
  `Its payload was stored by the codec '${codec}', and is not shown: --codecs names a module that has this codec.`;

function shown(value: unknown, nowMs: number): string {
  if (value instanceof Date) return `${value.toISOString()} (${fromNow(value, nowMs)})`;
  if (typeof value === 'string') return value;
  if (isFailures(value))
    return value
      .map((failure) => `${failure.attempt}. ${fromNow(failure.at, nowMs)}: ${failureLine(failure)}`)
      .join('\n');
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  if (isEmpty || value === undefined) return '';
  const line = JSON.stringify(value);
  const lines = line.length <= LINE_CHARACTERS ? [line] : JSON.stringify(value, null, 2).split('\n');
  const more = lines.length - LINES;
  return [...lines.slice(0, LINES), ...(more > 0 ? [`… ${more} more lines`] : [])].join('\n');
}

function isFailures(value: unknown): value is InspectedJob['failures'] {
  return Array.isArray(value) && value[0]?.at instanceof Date;
}

/** What may be done next, by the code that `explain` answers. */
const NEXT: Record<string, (queue: string, id: string) => Next> = {
  'not-due': (queue, id) => ['To make it due now', 'run-now', queue, id],
  paused: (queue) => ['To end the pause', 'resume', queue],
  'no-handler': (queue) => ['Who handles what', 'workers', queue],
  concurrency: (queue) => ['What runs', 'list', queue, 'active'],
  behind: (queue) => ['Who is busy, and whose handlers are stuck', 'workers', queue],
  active: (queue, id) => ['To end its run', 'cancel', queue, id, '--running'],
  dead: (queue, id) => ['To run it again', 'retry', queue, id],
  unknown: (queue) => ['What there is', 'find', queue],
};

export const explain: Command = {
  operands: '<queue> <id>',
  takes: { queue: 'needed', more: 1 },
  summary: 'why a job has not run yet, or what has become of it',
  options: [],
  check: ({ operands }) => requireIds('explain', operands),
  async run({ queue, operands: [id = ''], instance, style, next }) {
    const explanation = await instance.inspector.explain({ id, queue });
    const { code, message } = explanation;
    return {
      json: explanation,
      text: () => {
        const command = NEXT[code]?.(queue, id) ?? ['All that is known of it', 'show', queue, id];
        return [style.bold(code), ...wrap(message), '', next(command)].join('\n');
      },
      code: code === 'unknown' ? EXIT.missed : EXIT.done,
    };
  },
};

import type { InspectedJob } from '../../api/inspection/inspected-job.js';
import type { JobState } from '../../store/job-store.js';
import type { Answer, Call, Command, Next } from '../command.js';
import { known, STATES } from '../options.js';
import { jobTable } from '../text/jobs.js';
import { UsageError } from '../usage-error.js';

const LIMIT = 100;
/** What one call of the inspector answers at most. */
const JOBS_A_CALL = 1_000;

export const list: Command = {
  operands: '<queue> [state]',
  takes: { queue: 'needed', more: 1 },
  summary: `jobs of one state (due): ${STATES.join(', ')}`,
  options: ['limit', 'offset'],
  check({ operands }) {
    stateOf(operands);
  },
  async run(call) {
    const { queue, operands, options, instance } = call;
    const { offset = 0, limit = LIMIT } = options;
    const state = stateOf(operands);
    const jobs: InspectedJob[] = [];
    while (jobs.length < limit) {
      const page = { offset: offset + jobs.length, limit: Math.min(JOBS_A_CALL, limit - jobs.length), queue };
      const some = await instance.inspector.list(state, page);
      jobs.push(...some);
      if (some.length < page.limit) break;
    }
    const more = `These are ${limit} jobs, and there may be more: --offset ${offset + limit} goes on.`;
    return answer(call, state, jobs, jobs.length < limit ? [] : [more]);
  },
};

export const find: Command = {
  operands: '<queue>',
  takes: { queue: 'needed', more: 0 },
  summary: 'jobs that fit all that is given, in no order; scheduled, due and active ones unless --state says otherwise',
  options: ['name', 'tag', 'set', 'id-prefix', 'state', 'due-from', 'due-to', 'limit'],
  async run(call) {
    const { queue, options, instance } = call;
    const { limit = LIMIT } = options;
    const search = {
      queue,
      states: options.state,
      names: options.name,
      tags: options.tag,
      set: options.set,
      idPrefix: options['id-prefix'],
      dueFrom: options['due-from'],
      dueTo: options['due-to'],
    };
    const jobs: InspectedJob[] = [];
    let cursor: string | undefined;
    do {
      const page = await instance.inspector.find({
        ...search,
        cursor,
        limit: Math.min(JOBS_A_CALL, limit - jobs.length),
      });
      jobs.push(...page.jobs);
      cursor = page.cursor;
    } while (cursor !== undefined && jobs.length < limit);
    const more = `These are ${limit} jobs, and there may be more: --limit ${10 * limit} shows them.`;
    return answer(call, 'any', jobs, cursor === undefined ? [] : [more]);
  },
};

function stateOf([word = 'due']: readonly string[]): JobState {
  const read = known('state', STATES)(word);
  if ('value' in read) return read.value;
  throw new UsageError(`list: ${read.problem}`);
}

/** What to type next, about the first of the jobs; behind the command come queue and id. */
const NEXT: Record<string, readonly Next[]> = {
  active: [
    ['All that is known of the first', 'show'],
    ['To end its run', 'cancel', '--running'],
  ],
  completed: [['All that is known of the first', 'show']],
  dead: [
    ['Which errors there are', 'failures'],
    ['To run the first again', 'retry'],
  ],
};

async function answer(
  { queue, instance, redaction, style, next }: Call,
  state: string,
  jobs: readonly InspectedJob[],
  notes: string[],
): Promise<Answer> {
  const nowMs = await instance.now();
  return {
    json: jobs.map((job) => redaction.redactJob(job)),
    text: () => {
      const [first] = jobs;
      if (!first) return `No such job.\n\n${next(['How many there are of each state', 'stats', queue])}`;
      const commands = NEXT[state] ?? [
        ['All that is known of the first', 'show'],
        ['Why it has not run, or what has become of it', 'explain'],
      ];
      return `${jobTable(state, jobs, nowMs, style)}\n\n${next(
        ...commands.map(([purpose, command, ...more]): Next => {
          return [purpose, command!, queue, ...(command === 'failures' ? [] : [first.id]), ...more];
        }),
      )}`;
    },
    notes,
  };
}

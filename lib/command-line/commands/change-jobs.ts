import { QueueUnavailableError, restated } from '../../core/errors.js';
import { describe } from '../../core/read/describe.js';
import { type Answer, type Call, type Command, changedAnswer, EXIT, refusal } from '../command.js';
import { requireIds, UsageError } from '../usage-error.js';
import { changeRecurrence } from './change-recurrence.js';

/** So many ids that were not changed are told one by one. */
const TOLD = 10;
const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** What is done to each job that is named. */
interface Change {
  /** How the question whether to do it begins; without it nobody is asked. */
  readonly question?: string;
  /** As in `1 job was cancelled.`. */
  readonly done: string;
  readonly expected: string;
  act(call: Call, id: string): Promise<boolean>;
}

const CANCEL: Change = {
  question: 'Cancel',
  done: 'cancelled',
  expected: 'a waiting one; --running cancels one that runs',
  act: ({ instance, queue }, id) => instance.producer.cancel({ id, queue }),
};

const CANCEL_RUNNING: Change = {
  ...CANCEL,
  expected: 'one that runs; without --running a waiting one is cancelled',
  act: ({ instance, queue }, id) => instance.inspector.cancelRunning({ id, queue }),
};

export const cancel: Command = {
  operands: '<queue> <id …>',
  takes: { queue: 'needed', more: ANY_NUMBER },
  summary: 'cancels waiting jobs: those of these ids, or of a tag; with --running those that run',
  options: ['tag', 'running'],
  asks: true,
  check({ operands, options: { tag, running } }) {
    if (tag === undefined) return requireIds('cancel', operands);
    if (operands.length > 0)
      throw new UsageError(`cancel: got --tag and the id ${describe(operands[0])}, expected one of both.`);
    if (running) throw new UsageError('cancel: got --tag and --running, expected --running with ids.');
    if (tag.length > 1) throw new UsageError(`cancel: got ${tag.length} tags, expected one.`);
  },
  async run(call) {
    const { queue, options, instance } = call;
    const [tag] = options.tag ?? [];
    if (tag === undefined) return change(call, options.running ? CANCEL_RUNNING : CANCEL);
    const refused = await refusal(call, `Cancel all waiting jobs of queue '${queue}' with the tag '${tag}'?`);
    if (refused) return refused;
    const changed = await instance.inspector.cancelTagged(tag, { queue });
    return changedAnswer(changed, `${jobs(changed)} cancelled.`);
  },
};

export const remove: Command = {
  operands: '<queue> <id …>',
  takes: { queue: 'needed', more: ANY_NUMBER },
  summary: 'deletes jobs that do not run',
  options: [],
  asks: true,
  check: ({ operands }) => requireIds('remove', operands),
  run: (call) =>
    change(call, {
      question: 'Delete',
      done: 'deleted',
      expected: 'one that does not run',
      act: ({ instance, queue }, id) => instance.inspector.remove({ id, queue }),
    }),
};

export const runNow: Command = {
  operands: '<queue> <id …>',
  takes: { queue: 'needed', more: ANY_NUMBER },
  summary: 'makes waiting jobs due now; with --recurrence one more job of a recurrence',
  options: ['recurrence'],
  check({ operands, options: { recurrence } }) {
    if (recurrence === undefined) return requireIds('run-now', operands);
    if (operands.length > 0)
      throw new UsageError(`run-now: got --recurrence and the id ${describe(operands[0])}, expected one of both.`);
  },
  run: (call) =>
    call.options.recurrence === undefined
      ? change(call, {
          done: 'made due now',
          expected: 'a waiting one',
          act: ({ instance, queue }, id) => instance.producer.runNow({ id, queue }),
        })
      : changeRecurrence(call, 'run'),
};

export const retry: Command = {
  operands: '<queue> <id …>',
  takes: { queue: 'needed', more: ANY_NUMBER },
  summary: 'puts dead jobs back, due now and from attempt 1 on',
  options: [],
  check: ({ operands }) => requireIds('retry', operands),
  run: (call) =>
    change(call, {
      done: 'put back',
      expected: 'a dead one',
      act: async ({ instance, queue }, id) => (await instance.inspector.replayDead({ id, queue })) > 0,
    }),
};

async function change(call: Call, { question, done, expected, act }: Change): Promise<Answer> {
  const { queue, operands, instance, next } = call;
  const ids = [...new Set(operands)];
  const which = ids.length === 1 ? `job '${ids[0]}'` : `${ids.length} jobs`;
  const refused = question && (await refusal(call, `${question} ${which} of queue '${queue}'?`));
  if (refused) return refused;
  const missed: string[] = [];
  for (const [i, id] of ids.entries()) {
    try {
      if (!(await act(call, id))) missed.push(id);
    } catch (error) {
      throw i > missed.length && error instanceof QueueUnavailableError
        ? restated(error, {}, { message: `${error.message} Before it, ${jobs(i - missed.length)} ${done}.` })
        : error;
    }
  }
  const notes = await Promise.all(
    missed.slice(0, TOLD).map(async (id) => {
      const job = await instance.inspector.job({ id, queue });
      return job
        ? `Job '${id}' of queue '${queue}' is ${job.state}, expected ${expected}.`
        : `Queue '${queue}' has no job '${id}'.`;
    }),
  );
  if (missed.length > TOLD) notes.push(`So it is with ${missed.length - TOLD} others.`);
  const changed = ids.length - missed.length;
  return changedAnswer(changed, `${jobs(changed)} ${done}.\n\n${next(['How the queue is', 'stats', queue])}`, {
    notes,
    code: missed.length > 0 ? EXIT.missed : EXIT.done,
  });
}

function jobs(count: number): string {
  return count === 1 ? '1 job was' : `${count} jobs were`;
}

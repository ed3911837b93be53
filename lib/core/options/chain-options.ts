import { InvalidScheduleError } from '../errors.js';
import { readDefinition, type ScheduledJobDefinition } from '../job/definition.js';
import { describe } from '../read/describe.js';
import { asSentence, isRecord, unknownOption } from '../read/shape.js';
import { MOST_STEPS } from './defaults.js';
import { type ChainStep, readSchedule, type ScheduleOptions, type ScheduleRequest } from './schedule-options.js';

/** A step that has been read: its job, whose payload is to be written. */
export interface StepRequest {
  readonly request: ScheduleRequest;
  readonly payload: unknown;
}

const STEP = ['job', 'payload', 'options'];
/** What is decided by the chain, or has no meaning in it. */
const NOT_IN_STEPS = ['id', 'at', 'onDuplicate', 'queue', 'set', 'then'];

/** Reads the option `then` of a job. Throws `InvalidScheduleError`. */
export function readSteps(first: ScheduleRequest): StepRequest[] {
  const where = `schedule('${first.name}')`;
  const { then } = first;
  const about = { queue: first.queue, jobName: first.name, jobId: first.id };
  const refuse = (problem: string) => new InvalidScheduleError(asSentence(`${where}: then: ${problem}`), about);
  const given = Array.isArray(then) ? then : [then];
  if (given.length > MOST_STEPS) throw refuse(`got ${given.length} steps, expected at most ${MOST_STEPS}`);
  const steps: StepRequest[] = [];
  let before = first;
  for (const [i, step] of given.entries()) {
    const refuseStep = (problem: string) => refuse(`step ${i + 1}: ${problem}`);
    if (!isRecord(step)) throw refuseStep(`got ${describe(step)}, expected { job, payload, options }`);
    const unknown = Object.keys(step).find((key) => !STEP.includes(key));
    if (unknown !== undefined) throw refuseStep(unknownOption(unknown, STEP));
    const { job, payload, options } = step as ChainStep;
    before = readStep(job, payload, options, before, refuseStep, `${where}: then: step ${i + 1}`);
    steps.push({ request: before, payload });
  }
  return steps;
}

function readStep(
  job: ScheduledJobDefinition | string,
  payload: unknown,
  options: unknown,
  before: ScheduleRequest,
  refuse: (problem: string) => Error,
  where: string,
): ScheduleRequest {
  const said = isRecord(options) ? (options as ScheduleOptions) : {};
  const refused = NOT_IN_STEPS.find((name) => name in said);
  if (refused !== undefined) throw refuse(`got ${refused}, expected none: ${WHY_NOT[refused]}`);
  const definition = readDefinition(job);
  if (definition?.queue !== undefined && definition.queue !== before.queue)
    throw refuse(
      `got a job of queue '${definition.queue}', expected one of queue '${before.queue}': let the handler before it schedule the job, under an id made of job.id`,
    );
  const read = readSchedule(job, options as ScheduleOptions | undefined, payload, where);
  const settings = definition?.settings;
  const headers = read.settings.headers ?? before.settings.headers;
  return {
    ...read,
    queue: before.queue,
    priority: said.priority ?? settings?.priority ?? before.priority,
    // A worker and a group exclude each other.
    group: read.group ?? (said.group === null || read.worker !== undefined ? undefined : before.group),
    settings: headers === undefined ? read.settings : { ...read.settings, headers },
  };
}

const WHY_NOT: Record<string, string> = {
  id: 'the id of a step is made when the job before it completes',
  at: 'a step is due when the job before it has completed, or a delay later',
  onDuplicate: 'a step is a new job',
  queue: 'a chain stays in one queue',
  set: 'a step is in the set of the job before it',
  then: 'give then an array of steps',
};

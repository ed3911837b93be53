import { InvalidOptionsError } from '../../core/errors.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import type { SaidSettings } from '../../core/options/run-settings.js';
import { describe } from '../../core/read/describe.js';
import type { HandlerMark } from './on-scheduled-job.decorator.js';
import type { RecurrenceMark } from './recurrence-options.js';

/** One handler, as the marks of one job on a method make it. */
export interface MarkedHandler {
  readonly queue: string;
  /** The first of the marks, with the run options of all. */
  readonly mark: HandlerMark;
  readonly recurrences: readonly RecurrenceMark[];
}

/**
 * The handlers that the marks of one method make. Marks of one job in one queue that declare recurrences are one handler; so is a
 * further one that declares none. Two that declare none stay two handlers, which the registry refuses.
 */
export function markedHandlers(marks: readonly HandlerMark[], place: string): MarkedHandler[] {
  const handlers: { queue: string; marks: HandlerMark[] }[] = [];
  for (const mark of marks) {
    const queue = mark.queue ?? DEFAULT_QUEUE;
    const same = handlers.find((one) => one.queue === queue && one.marks[0]!.name === mark.name);
    const isOther = !same || (!mark.recurrence && same.marks.some(({ recurrence }) => !recurrence));
    if (isOther) handlers.push({ queue, marks: [mark] });
    else same.marks.push(mark);
  }
  return handlers.map(({ queue, marks: [first, ...others] }) => ({
    queue,
    mark: others.reduce((merged, mark) => merge(merged, mark, queue, place), first!),
    recurrences: [first!, ...others].flatMap(({ recurrence }) => recurrence ?? []),
  }));
}

/** Throws `InvalidOptionsError` where two marks of one handler contradict each other. */
function merge(one: HandlerMark, other: HandlerMark, queue: string, place: string): HandlerMark {
  const refuse = (what: string) =>
    new InvalidOptionsError(
      `${place}: @OnScheduledJob('${one.name}') stands here several times, with different ${what}, expected the same, or to find it in one of them.`,
      { queue, jobName: one.name },
    );
  if (one.payload && other.payload && one.payload !== other.payload) throw refuse('payload classes');
  if (one.definition && other.definition && one.definition.version !== other.definition.version)
    throw refuse('versions');
  const own: SaidSettings = { ...one.own, ...other.own };
  for (const [name, value] of Object.entries(one.own)) {
    const merged = own[name as keyof SaidSettings];
    if (!isSame(merged, value)) throw refuse(`values of ${name} (${describe(value)} and ${describe(merged)})`);
  }
  return {
    ...one,
    own,
    payload: one.payload ?? other.payload,
    definition: one.definition ?? other.definition,
    defined: one.defined ?? other.defined,
  };
}

/** Backoffs that have been read have their fields in one order. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

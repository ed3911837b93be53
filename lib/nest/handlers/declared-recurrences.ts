import type { PayloadWriter } from '../../api/payload-writer.js';
import { templateOf } from '../../api/recurrence/recurrence-calls.js';
import { readRule } from '../../core/calendar/read-rule.js';
import type { Rule } from '../../core/calendar/rule.js';
import { timingLine } from '../../core/calendar/timing-line.js';
import { InvalidOptionsError, InvalidScheduleError, ScheduledQueueError } from '../../core/errors.js';
import { defineScheduledJob, type ScheduledJobDefinition } from '../../core/job/definition.js';
import { readSchedule } from '../../core/options/schedule-options.js';
import type { Declaration } from '../../store/job-store.js';
import type { Declared } from '../../worker/recur/declarers.js';
import type { JobOverride } from '../job-overrides.js';
import type { RecurrenceMark } from './recurrence-options.js';
import type { MarkedHandler } from './repeated-marks.js';

/** A recurrence that a handler declares; without a rule it is switched off by configuration. */
interface Found {
  readonly queue: string;
  readonly id: string;
  /** The method, as errors name it. */
  readonly place: string;
  readonly definition: ScheduledJobDefinition;
  readonly rule?: Rule;
  readonly payload: unknown;
}

/** The recurrences that the handlers of one instance of the module declare, by decorator or by configuration. */
export class DeclaredRecurrences {
  private readonly found: Found[] = [];

  constructor(private readonly overrides: ReadonlyMap<string, JobOverride>) {}

  /** Throws `InvalidOptionsError` and `InvalidScheduleError`, which name the method. */
  add(handler: MarkedHandler, place: string): void {
    for (const found of this.read(handler, place)) {
      const other = this.found.find(({ queue, id }) => queue === found.queue && id === found.id);
      if (other) {
        throw new InvalidOptionsError(
          `Recurrence '${found.id}' of queue '${found.queue}' is declared twice: by ${other.place} and by ${place}. Give one of them another recurrenceId.`,
          { queue: found.queue, jobName: handler.mark.name },
        );
      }
      this.found.push(found);
    }
  }

  /** Checks all payloads, so that none is encoded where one is refused. Throws `InvalidPayloadError` or `InvalidOptionsError`, which name the method. */
  async check(payloads: PayloadWriter): Promise<void> {
    for (const found of this.found) if (found.rule) await this.requestOf(found, payloads);
  }

  /** What there is to declare in each queue whose jobs this process runs. Throws as `check`. */
  async declarations(payloads: PayloadWriter, runs: (queue: string) => boolean): Promise<Map<string, Declared[]>> {
    const byQueue = new Map<string, Declared[]>();
    for (const found of this.found.filter(({ queue }) => runs(queue))) {
      const declared = byQueue.get(found.queue) ?? [];
      byQueue.set(found.queue, declared);
      declared.push({ place: found.place, declaration: await this.declarationOf(found, payloads) });
    }
    return byQueue;
  }

  /** What the recurrences of one handler are, as the log says it at start; none where it declares none. */
  linesOf(queue: string, name: string, nowMs: number): string[] {
    const ofHandler = this.found.filter((found) => found.queue === queue && found.definition.name === name);
    return ofHandler.map(({ id, rule }) => {
      const line = rule ? timingLine(rule.timing, nowMs) : 'recurrence switched off by the option jobs';
      return ofHandler.length > 1 || id !== name ? `recurrence '${id}': ${line}` : line;
    });
  }

  private read({ mark, queue, recurrences }: MarkedHandler, place: string): Found[] {
    const { name, payload } = mark;
    const override = this.overrides.get(name)?.recurrence;
    const definition = { ...(mark.definition ?? defineScheduledJob(name)), payload };
    const where = `${place}: @OnScheduledJob('${name}')`;
    const found = ({ id = name, payload }: RecurrenceMark, rule?: Rule) => {
      return { queue, id, place, definition, payload, rule };
    };
    // A bad rule is told even while configuration has another one in its place.
    const rules = recurrences.map(({ rule = {} }) =>
      override !== undefined && Object.keys(rule).length === 0
        ? undefined
        : readRule(rule, where, (message) => new InvalidScheduleError(message, { queue, jobName: name })),
    );
    if (override === undefined) return recurrences.map((recurrence, i) => found(recurrence, rules[i]));
    if (override === false) return (recurrences.length > 0 ? recurrences : [{}]).map((recurrence) => found(recurrence));
    if (recurrences.length > 1) {
      const ids = recurrences.map(({ id = name }) => `'${id}'`).join(', ');
      throw new InvalidOptionsError(
        `${where}: declares the recurrences ${ids}, and the module's jobs['${name}'].recurrence does not say which of them it overrides: expected one recurrence, or recurrence: false, which switches all off.`,
        { queue, jobName: name },
      );
    }
    return [found(recurrences[0] ?? {}, override)];
  }

  private async declarationOf(found: Found, payloads: PayloadWriter): Promise<Declaration> {
    const { id, rule } = found;
    if (!rule) return { id, isOff: true };
    const request = await this.requestOf(found, payloads);
    await payloads.encode(found.payload, request);
    return { id, rule, job: templateOf(request) };
  }

  /** The job of an occurrence, as `schedule` would read it. */
  private async requestOf({ queue, id, place, definition, payload }: Found, payloads: PayloadWriter) {
    const request = readSchedule(definition, { queue }, payload, `${place}: recurrence '${id}'`);
    if (payload === undefined && definition.payload) {
      const type = definition.payload.name;
      throw new InvalidOptionsError(
        `${place}: @OnScheduledJob('${definition.name}') declares recurrence '${id}' without a payload, expected a ${type} for each occurrence. Give the decorator recurrencePayload.`,
        { queue, jobName: definition.name },
      );
    }
    try {
      await payloads.check(payload, request);
    } catch (error) {
      if (error instanceof ScheduledQueueError)
        error.message = `${place}: recurrencePayload of recurrence '${id}': ${error.message}`;
      throw error;
    }
    return request;
  }
}

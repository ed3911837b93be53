import { describe } from '../read/describe.js';
import type { Check } from '../read/shape.js';

/** What people read in the place of a redacted value. */
export const REDACTED = '[redacted]';

/** The parts of a job, or of a recurrence, that an application fills. Options such as `name` are the library's own and stay. */
const FILLED_BY_APPLICATION = ['payload', 'result', 'headers', 'progress'];

/** Names of properties as they stand in objects: exact, and no paths. */
export const propertyNames: Check<readonly string[]> = (value) => {
  if (!Array.isArray(value)) return { problem: `got ${describe(value)}, expected an array of names of properties` };
  const wrong = value.findIndex((name) => typeof name !== 'string' || name === '');
  if (wrong < 0) return { value: [...value] };
  return { problem: `name ${wrong}: got ${describe(value[wrong])}, expected the name of a property` };
};

/** Hides the values of properties of these names from people who look at jobs. Handlers and the inspector get values whole. */
export class Redaction {
  private readonly names: ReadonlySet<unknown>;

  constructor(private readonly given: readonly string[] = []) {
    this.names = new Set(given);
  }

  get isEmpty(): boolean {
    return this.names.size === 0;
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** One of the names that stands in a text as a word of its own. */
  nameIn(text: string): string | undefined {
    return this.given.find((name) => {
      const escaped = name.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
      return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u').test(text);
    });
  }

  /**
   * The value with `'[redacted]'` for each property of these names, at any depth; what holds none of them is answered as it is. An object
   * of a class that holds one is shown as its `toJSON`, or else its own properties, would be in JSON.
   */
  redact(value: unknown): unknown {
    return this.isEmpty ? value : this.within(value);
  }

  /** The job, or the recurrence, with its payload, result, headers and progress redacted. */
  redactJob<Job extends object>(job: Job): Job {
    if (this.isEmpty) return job;
    const parts = Object.entries(job).filter(([part]) => FILLED_BY_APPLICATION.includes(part));
    return { ...job, ...Object.fromEntries(parts.map(([part, value]) => [part, this.within(value)])) };
  }

  private within(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value))
      return unlessSame(
        value,
        value.map((item) => this.within(item)),
      );
    // A codec may answer it.
    if (value instanceof Map) return new Map([...value].map(([key, inner]) => [key, this.valueOf(key, inner)]));
    if (hasToJson(value)) {
      const json = value.toJSON();
      const redacted = this.within(json);
      return redacted === json ? value : redacted;
    }
    const entries = Object.entries(value);
    const redacted = entries.map(([name, inner]) => this.valueOf(name, inner));
    const isSame = entries.every(([, inner], i) => Object.is(inner, redacted[i]));
    // Defines each property, so that one named __proto__ stays one.
    return isSame ? value : Object.fromEntries(entries.map(([name], i) => [name, redacted[i]]));
  }

  private valueOf(name: unknown, value: unknown): unknown {
    return this.names.has(name) && value !== undefined ? REDACTED : this.within(value);
  }
}

function unlessSame(items: unknown[], redacted: unknown[]): unknown[] {
  return items.every((item, i) => Object.is(item, redacted[i])) ? items : redacted;
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

/** Both builds of this package must find what the other has noted. */
const NOTED = Symbol.for('nestjs-redis-scheduled-queue:redaction');
const NONE = new Redaction();

/** Notes at a service of an instance what people may not read, for whoever is handed the service alone. */
export function noteRedaction<Service extends object>(service: Service, redaction: Redaction): Service {
  return Object.defineProperty(service, NOTED, { value: redaction });
}

/** What people may not read of what this service answers. */
export function redactionOf(service: object): Redaction {
  return (service as { [NOTED]?: Redaction })[NOTED] ?? NONE;
}

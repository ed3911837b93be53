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
  private readonly names: ReadonlySet<string>;

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
   * The value as JSON shows it, with `'[redacted]'` for each property of these names, at any depth. A codec may answer what JSON does not
   * have: a Map is shown as an object, a Set as an array, a bigint as its digits. `undefined` for a circle, or where a `toJSON` or a getter
   * throws: one such job would else hide all of a page.
   */
  redact(value: unknown): unknown {
    if (value === undefined) return undefined;
    const { names } = this;
    function shown(this: unknown, name: string, inner: unknown): unknown {
      if (names.has(name) && inner !== undefined && !Array.isArray(this)) return REDACTED;
      if (typeof inner === 'bigint') return String(inner);
      if (inner instanceof Map) return Object.fromEntries(inner);
      return inner instanceof Set ? [...inner] : inner;
    }
    try {
      return JSON.parse(JSON.stringify(value, shown) ?? 'null');
    } catch {
      return undefined;
    }
  }

  /** The job, or the recurrence, with its payload, result, headers and progress redacted. */
  redactJob<Job extends object>(job: Job): Job {
    const parts = Object.entries(job).filter(([part]) => FILLED_BY_APPLICATION.includes(part));
    return { ...job, ...Object.fromEntries(parts.map(([part, value]) => [part, this.redact(value)])) };
  }
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

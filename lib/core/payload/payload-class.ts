import { nameAndPlace } from '../error-description.js';
import {
  InvalidOptionsError,
  InvalidPayloadError,
  type PayloadFinding,
  type ScheduledQueueErrorFields,
} from '../errors.js';
import { describe } from '../read/describe.js';
import { deserialisePayload } from './payload.js';
import { REDACTED, Redaction } from './redaction.js';
import { showAs } from './without-values.js';

// biome-ignore lint/suspicious/noExplicitAny: a constructor's parameters do not matter here
export type PayloadClass<T = unknown> = new (...args: any[]) => T;

/** Options of class-validator's `validate`, or `false` to send and run payloads unchecked. */
export type ValidationOptions = Record<string, unknown> | false;

interface ValidationFinding {
  property: string;
  constraints?: Record<string, string>;
  children?: ValidationFinding[];
}

interface Validators {
  validate(value: object, options: object): Promise<ValidationFinding[]>;
  plainToInstance<T>(type: PayloadClass<T>, plain: unknown): T;
}

/**
 * Makes payloads instances of their class and checks them with class-validator and class-transformer,
 * which are only loaded where a payload class is used.
 */
export class PayloadChecker {
  private validators?: Promise<Validators>;

  constructor(
    private readonly options: ValidationOptions,
    private readonly redaction = new Redaction(),
  ) {}

  /** What JSON text holds, as a handler sees it. Throws as `check` does. */
  async read(text: string, type: PayloadClass | undefined, fields: ScheduledQueueErrorFields): Promise<unknown> {
    return this.check(deserialisePayload(text), type, fields);
  }

  /** A payload that has been decoded, or is not yet encoded, as a handler sees it. Throws `InvalidPayloadError` where it does not fit its class. */
  async check(plain: unknown, type: PayloadClass | undefined, fields: ScheduledQueueErrorFields): Promise<unknown> {
    if (!type) return plain;
    if (plain === null || typeof plain !== 'object' || Array.isArray(plain)) {
      throw notFitting(type, fields, [{ path: '', messages: [`got ${kindOf(plain)}, expected an object`] }]);
    }
    const { validate, plainToInstance } = await this.load(type);
    const instance = transform(plainToInstance, type, plain, fields);
    if (this.options === false) return instance;
    const findings = await validate(instance, { forbidUnknownValues: false, ...this.options });
    if (findings.length > 0)
      throw notFitting(
        type,
        fields,
        findings.flatMap((finding) => this.flatten(finding, '', Object.values)),
        // Whatever a message says, by $value or a function of its own: the name of a constraint holds nothing of the payload.
        findings.flatMap((finding) => this.flatten(finding, '', Object.keys)),
      );
    return instance;
  }

  /** `textsOf`: what is told of the constraints, which are texts by the name of each. Of a redacted property nothing is told. */
  private flatten(
    { property, constraints, children = [] }: ValidationFinding,
    parent: string,
    textsOf: (constraints: Record<string, string>) => string[],
  ): PayloadFinding[] {
    const path = parent === '' ? property : `${parent}.${property}`;
    if (this.redaction.has(property)) return [{ path, messages: [REDACTED] }];
    const own = constraints ? [{ path, messages: textsOf(constraints) }] : [];
    return [...own, ...children.flatMap((child) => this.flatten(child, path, textsOf))];
  }

  /** Loads both packages. Throws `InvalidOptionsError`, which names `place`, where one is not installed. */
  async prepare(type: PayloadClass, place: string): Promise<void> {
    await this.load(type, `${place}: the payload class`);
  }

  private load(type: PayloadClass, beginning = 'The payload class'): Promise<Validators> {
    this.validators ??= Promise.all([import('class-validator'), import('class-transformer')]).then(
      ([validator, transformer]) => ({
        validate: validator.validate as unknown as Validators['validate'],
        plainToInstance: transformer.plainToInstance as Validators['plainToInstance'],
      }),
      (cause) => {
        this.validators = undefined;
        throw new InvalidOptionsError(
          `${beginning} ${type.name} needs the packages class-validator and class-transformer: npm install class-validator class-transformer`,
          { cause },
        );
      },
    );
    return this.validators;
  }
}

/** A transformation that throws, such as one of `@Transform`, is a finding like any other. */
function transform(
  plainToInstance: Validators['plainToInstance'],
  type: PayloadClass,
  plain: object,
  fields: ScheduledQueueErrorFields,
): object {
  try {
    return plainToInstance(type, plain) as object;
  } catch (cause) {
    const beginning = 'cannot be made one:';
    const message = `${beginning} ${(cause as Error)?.message ?? describe(cause)}`;
    const shown = `${beginning} its transformation threw ${nameAndPlace(cause)}`;
    throw notFitting(type, { ...fields, cause }, findingAbout(message), findingAbout(shown));
  }
}

const findingAbout = (message: string): PayloadFinding[] => [{ path: '', messages: [message] }];

/** `shown`: the findings as logs and Redis show them, where they are others. */
function notFitting(
  type: PayloadClass,
  fields: ScheduledQueueErrorFields,
  findings: PayloadFinding[],
  shown = findings,
): InvalidPayloadError {
  const messageOf = (list: PayloadFinding[]) =>
    `The payload of job '${fields.jobName}' does not fit ${type.name}: ${list.map(sentence).join('; ')}.`;
  const error = new InvalidPayloadError(messageOf(findings), findings, fields);
  return showAs(error, { message: messageOf(shown), findings: shown });
}

function sentence({ path, messages }: PayloadFinding): string {
  return path ? `${path}: ${messages.join(', ')}` : messages.join(', ');
}

/** The type of a payload, and none of its content: this text is logged and stored. */
function kindOf(payload: unknown): string {
  if (payload === null || payload === undefined) return String(payload);
  if (typeof payload === 'string') return `a string of ${payload.length} characters`;
  return Array.isArray(payload) ? `an array of ${payload.length}` : `a ${typeof payload}`;
}

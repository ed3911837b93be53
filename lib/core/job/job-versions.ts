import { describeError } from '../error-description.js';
import { invalidPayload } from '../payload/payload.js';
import { showAs, valueEraser } from '../payload/without-values.js';
import { describe } from '../read/describe.js';
import { type Check, integer, isRecord } from '../read/shape.js';
import { isThenable } from '../thenable.js';

export const MAX_VERSION = 10_000;
/** The version of jobs whose definition says none, and of those named by a string. */
export const FIRST_VERSION = 1;
/** A worker claims each version under a name of its own, so the number also keeps claims short. */
const MOST_UPGRADE_STEPS = 100;

/** One step of `upgrade`: makes a payload of one version what the next one expects. It answers at once, no promise. */
// biome-ignore lint/suspicious/noExplicitAny: payloads of earlier versions have no type any more
export type UpgradeFunction = (payload: any) => unknown;

/** By version, the step from it to the next one. */
export type UpgradeSteps = Readonly<Record<number, UpgradeFunction>>;

/** The versions of one job name that a handler runs: its own, `last`, and all from `first` on, whose payloads it upgrades. */
export interface VersionRange {
  readonly first: number;
  readonly last: number;
}

export const FIRST_ALONE: VersionRange = { first: FIRST_VERSION, last: FIRST_VERSION };

/** How a handler reads the payloads of its jobs. */
export interface JobVersions extends VersionRange {
  readonly steps: UpgradeSteps;
}

export const jobVersion: Check<number> = integer(FIRST_VERSION, MAX_VERSION);

/** Reads each step; which of them are needed depends on the version, see `versionsProblem`. */
export const upgradeSteps: Check<UpgradeSteps> = (value) => {
  if (!isRecord(value))
    return {
      problem: `got ${describe(value)}, expected an object of functions by version, such as { 1: (payload) => … }`,
    };
  const steps: Record<number, UpgradeFunction> = {};
  for (const [key, step] of Object.entries(value)) {
    const version = Number(key);
    if (String(version) !== key || 'problem' in jobVersion(version))
      return {
        problem: `got the key ${describe(key)}, expected versions as keys: whole numbers from 1 to ${MAX_VERSION}`,
      };
    if (typeof step !== 'function')
      return { problem: `${key}: got ${describe(step)}, expected a function of the payload` };
    steps[version] = step as UpgradeFunction;
  }
  return { value: Object.freeze(steps) };
};

/** Why version and steps of a definition do not go together; `undefined` where they do. */
export function versionsProblem(version: number | undefined, upgrade: UpgradeSteps | undefined): string | undefined {
  if (!upgrade) return undefined;
  if (version === undefined)
    return 'upgrade: got it without version, expected both: version says what the last step makes of a payload';
  const keys = Object.keys(upgrade).map(Number);
  if (keys.length > MOST_UPGRADE_STEPS)
    return `upgrade: got ${keys.length} steps, expected at most ${MOST_UPGRADE_STEPS}: delete those of versions of which inspector.versions tells no job any more`;
  const beyond = keys.find((key) => key >= version);
  const allowed = version === FIRST_VERSION ? 'none' : `keys from 1 to ${version - 1}`;
  if (beyond !== undefined)
    return `upgrade: got the key ${beyond}, expected ${allowed}: the version is ${version}, and each step leads from its key to the next version`;
  const lowest = Math.min(...keys);
  for (let key = lowest; key < version; key++)
    if (!upgrade[key])
      return `upgrade: got no step ${key}, expected one for each version from ${lowest} to ${version - 1}: no payload of version ${lowest} comes to version ${version} without it`;
  return undefined;
}

/** Which versions a handler of such a definition runs; `undefined` for version 1 alone. */
export function versionsOf(definition: {
  readonly version?: number;
  readonly upgrade?: UpgradeSteps;
}): JobVersions | undefined {
  const { version = FIRST_VERSION, upgrade = {} } = definition;
  if (version === FIRST_VERSION) return undefined;
  return { first: Math.min(version, ...Object.keys(upgrade).map(Number)), last: version, steps: upgrade };
}

export const includesVersion = ({ first, last }: VersionRange, version: number) => version >= first && version <= last;

/**
 * The payload of an older version as the handler's own version has it, by one step after the other. Throws `InvalidPayloadError`, with what a
 * step threw as its cause; logs and Redis get its message without values of the payload, which messages of V8 quote.
 */
export function upgradePayload(
  payload: unknown,
  version: number,
  versions: JobVersions | undefined,
  fields: { queue: string; jobName: string; jobId: string },
): unknown {
  if (!versions || !includesVersion(versions, version))
    throw invalidPayload(
      `has version ${version}, expected one that its handler reads: ${describeVersions(versions ?? FIRST_ALONE)}`,
      fields,
    );
  let upgraded = payload;
  for (let from = version; from < versions.last; from++) {
    try {
      upgraded = takeStep(versions.steps[from]!, upgraded);
    } catch (cause) {
      const { message } = describeError(cause, 0);
      const beginning = `cannot be upgraded from version ${from} to ${from + 1}:`;
      const withoutValues = valueEraser(payload)(valueEraser(upgraded)(message));
      const shown = invalidPayload(`${beginning} ${withoutValues}`, fields);
      throw showAs(invalidPayload(`${beginning} ${message}`, { ...fields, cause }), shown);
    }
  }
  return upgraded;
}

function takeStep(step: UpgradeFunction, payload: unknown): unknown {
  const upgraded = step(payload);
  if (!isThenable(upgraded)) return upgraded;
  // Nobody waits for it: if it rejects, the process would end.
  Promise.resolve(upgraded).catch(() => {});
  throw new TypeError('the step answered a promise, expected the payload: a step is synchronous');
}

/** As jobs carry their version: version 1 costs them nothing. */
export const above1 = (version: number | undefined) => (version === FIRST_VERSION ? undefined : version);

/** `'version 3'`, or `'versions 1 to 3'`. */
export function describeVersions({ first, last }: VersionRange): string {
  return first === last ? `version ${last}` : `versions ${first} to ${last}`;
}

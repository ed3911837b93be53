import type { SharedOptions } from '../../../core/options/shared-options.js';
import { processOf } from '../keys.js';

/** A session as `workers` lists it. */
export interface ListedSession {
  crew: string;
  session: string;
  /** The worker that it belongs to. */
  worker: string;
  pid: number;
  /** See worker-traits.ts. */
  traits: string;
  options: SharedOptions;
  host: string;
}

/** What begins the options in a member; no host does. */
const OPTIONS = '{';

/** JSON without spaces, which would end it there: the id of a codec has none. */
export function encodeOptions(options: SharedOptions): string {
  return JSON.stringify(options);
}

/**
 * "<crew> <session> <pid> <traits> <options> <host>", without options where the session runs a version that does not list any. Options that
 * only a later version knows stay as they are.
 */
export function decodeListed(member: string): ListedSession {
  const [crew = '', session = '', pid, traits = '', ...others] = member.split(' ');
  const options = others[0]?.startsWith(OPTIONS) ? others.shift() : undefined;
  return {
    crew,
    session,
    worker: processOf(session),
    pid: Number(pid),
    traits,
    options: decodeOptions(options),
    host: others.join(' '),
  };
}

/** Somebody may have damaged them. */
function decodeOptions(text = '{}'): SharedOptions {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

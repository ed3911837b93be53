import type { ScriptArgument } from '../scripts/bound-script.js';
import { SCRIPTS, type ScriptName } from '../scripts/embedded.js';
import type { Client } from './client.js';

/** How a call differs from others. */
export interface CallTraits {
  /** About how many bytes of payload the call carries. */
  bytes?: number;
  /** The call waits for its answer beyond its time, as long as the connection that it was sent by stands and is not silent. */
  isPatient?: boolean;
}

/** Sends the script's digest, and its source only where Redis does not have the script: after a restart or SCRIPT FLUSH. */
export async function sendScript(
  client: Client,
  script: ScriptName,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  const { sha, source } = SCRIPTS[script];
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error as Error).message?.startsWith('NOSCRIPT')) throw error;
    return await client.eval(source, keys.length, ...keys, ...args);
  }
}

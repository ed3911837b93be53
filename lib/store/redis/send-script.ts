import { SCRIPTS, type ScriptName } from '../scripts/embedded.js';
import type { Client } from './client.js';

export type ScriptArgument = string | number;

/** What is special about a call. */
export interface CallTraits {
  /** About how many bytes of payload go with it. */
  bytes?: number;
  /** Its answer is waited for beyond its time, as long as bytes arrive on the connection that it was sent by. */
  isPatient?: boolean;
}

/** By its digest, and by its source only where Redis does not have it, after a restart or SCRIPT FLUSH. */
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

import { SCRIPTS, type ScriptName } from '../scripts/embedded.js';
import type { Client } from './client.js';

export type ScriptArgument = string | number;

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

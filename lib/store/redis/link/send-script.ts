import type { ScriptArgument } from '../scripts/bound-script.js';
import { SCRIPTS, type ScriptName } from '../scripts/embedded.js';
import type { Client } from './client.js';

/** How a call differs from others. */
export interface CallTraits {
  /** About how many bytes of payload the call carries. */
  bytes?: number;
  /** The call waits for its answer beyond its time, as long as the connection that it was sent by stands and is not silent. */
  isPatient?: boolean;
  /**
   * Makes text of a reply that came as bytes, but where payloads stand. The reply of such a call comes as bytes where this process
   * reads payloads that are no text.
   */
  fromBytes?: (reply: unknown) => unknown;
}

/** Sends the script's digest, and its source only where Redis does not have the script: after a restart or SCRIPT FLUSH. */
export async function sendScript(
  client: Client,
  script: ScriptName,
  keys: readonly string[],
  args: readonly ScriptArgument[],
  fromBytes?: CallTraits['fromBytes'],
): Promise<unknown> {
  const { sha, source } = SCRIPTS[script];
  if (fromBytes) return fromBytes(await sendForBytes(client, script, keys, args));
  try {
    return await client.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return await client.eval(source, keys.length, ...keys, ...args);
  }
}

/** The same, each text of the reply as a Buffer. */
async function sendForBytes(
  client: Client,
  script: ScriptName,
  keys: readonly string[],
  args: readonly ScriptArgument[],
): Promise<unknown> {
  const { sha, source } = SCRIPTS[script];
  try {
    return await client.callBuffer('evalsha', sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    return await client.callBuffer('eval', source, keys.length, ...keys, ...args);
  }
}

function isUnknownScript(error: unknown): boolean {
  return (error as Error).message?.startsWith('NOSCRIPT') ?? false;
}

/** A reply of bytes as text, arrays at any depth. */
export function textOf(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(textOf) : reply;
}

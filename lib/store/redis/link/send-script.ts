import { Cluster, Command, Redis } from 'ioredis';
import type { ScriptArgument } from '../scripts/bound-script.js';
import { SCRIPTS, type ScriptName } from '../scripts/embedded.js';
import { checked, isReply } from '../scripts/reply-shape.js';
import type { Client } from './client.js';

/** How a call differs from others. */
export interface CallTraits {
  /** About how many bytes of payload the call carries. */
  bytes?: number;
  /** The call waits for its answer beyond its time, as long as the connection that it was sent by stands and is not silent. */
  isPatient?: boolean;
  /** Called whenever Redis is heard while the call waits: it says that it cannot run the call now, or a part of a reply has come. */
  heard?: () => void;
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
  const { sha, source, reply: shape } = SCRIPTS[script];
  const encoding = fromBytes ? null : 'utf8';
  let reply: unknown;
  try {
    reply = await send(client, 'evalsha', [sha, keys.length, ...keys, ...args], encoding);
  } catch (error) {
    if (!isUnknownScript(error)) throw error;
    reply = await send(client, 'eval', [source, keys.length, ...keys, ...args], encoding);
  }
  checked(reply, (given) => isReply(given, shape), `the script '${script}'`);
  return fromBytes ? fromBytes(reply) : reply;
}

/**
 * Sends one command; `null` asks for a reply of Buffers. ioredis copies the arguments, and what it keeps of a call is linked to by
 * later calls: once one of them is old, the arguments of all of them live until the old generation is collected. With promise hooks
 * on, as `currentScheduledJob` needs them on Node 20, that nearly doubles the time of a young collection. So the copy is emptied when
 * the call is over; ioredis' errors hold it too, and then show no payload.
 */
async function send(
  client: Client,
  name: 'evalsha' | 'eval',
  args: [script: string, keys: number, ...ScriptArgument[]],
  replyEncoding: 'utf8' | null,
): Promise<unknown> {
  if (!isOfThisCopy(client)) return replyEncoding ? client[name](...args) : client.callBuffer(name, ...args);
  const command = new Command(name, args, { replyEncoding });
  try {
    return await client.sendCommand(command);
  } finally {
    command.args.length = 0;
  }
}

/** An application's own client may be of another copy of ioredis, which may expect another kind of command. */
function isOfThisCopy(client: Client): boolean {
  return client instanceof Redis || client instanceof Cluster;
}

function isUnknownScript(error: unknown): boolean {
  return (error as Error).message?.startsWith('NOSCRIPT') ?? false;
}

/** A reply of bytes as text, arrays at any depth. */
export function textOf(reply: unknown): unknown {
  if (Buffer.isBuffer(reply)) return reply.toString();
  return Array.isArray(reply) ? reply.map(textOf) : reply;
}

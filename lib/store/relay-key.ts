import { InvalidOptionsError } from '../core/errors.js';
import { keyPart, redisKey } from '../core/names.js';

/**
 * A key for a relay of this queue, `{<queue>}:relay:<name>`: it lies in the slot of the queue's keys, and is none of them, whatever
 * the module's `prefix`. The prefix is not in it, so where several share one Redis, `name` must tell their targets apart.
 * Throws `InvalidOptionsError` where queue or name cannot be one.
 */
export function relayKey(queue: string, name: string): string {
  const read = keyPart(queue);
  if ('problem' in read) throw new InvalidOptionsError(`relayKey: queue: ${read.problem}.`);
  const named = redisKey(name);
  if ('problem' in named) throw new InvalidOptionsError(`relayKey: name: ${named.problem}.`);
  return `{${queue}}:relay:${name}`;
}

/** Refuses keys of a queue, and on a cluster those of another slot. Throws `InvalidOptionsError`. */
export function checkRelayKey(key: string, queue: string, prefix: string, clustered: boolean): void {
  const refuse = (problem: string) => new InvalidOptionsError(`relay: to: got '${key}', ${problem}.`, { queue });
  if (key.startsWith(`${prefix}:{`))
    throw refuse(`expected a key that does not begin with '${prefix}:{', as those of the queues do`);
  if (clustered && hashTagOf(key) !== queue)
    throw refuse(`expected a key with the hash tag {${queue}} on a cluster, such as relayKey('${queue}', …) makes`);
}

/** What decides the slot of a key: what stands between its first braces, unless that is nothing; else all of it. */
function hashTagOf(key: string): string {
  return key.match(/^[^{]*\{([^}]+)\}/)?.[1] ?? key;
}

import { InvalidOptionsError } from '../../core/errors.js';
import { keyPart, redisKey } from '../../core/read/names.js';

/**
 * A key in the slot of a queue, for the target of a relay, or for data of your own in a MULTI: `{<queue>}:relay:<name>`. On a cluster it lies in the same slot as the queue. The module's `prefix` is
 * not part of it: if several applications share one Redis, choose different names.
 * Throws `InvalidOptionsError` if queue or name cannot be used.
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

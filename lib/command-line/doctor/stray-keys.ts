import { firstFew } from '../../core/read/describe.js';
import { DIRECTORY, ownerOf } from '../../store/redis/keys.js';
import type { BareInstance } from '../bare-instance.js';
import { NotKnown } from './finding.js';

/** A walk over so many keys takes some ten seconds for each server. */
const KEYS_LOOKED_AT = 10_000_000;
const NAMED = 3;

/** Keys under the prefix that are no queue's. Another prefix may begin as this one does, as `shop:eu` and `shop`. */
export async function strayKeys({ store, inspector, prefix }: BareInstance): Promise<string[]> {
  const queues = new Map<string, number>();
  let foreign = 0;
  let example = '';
  const isWhole = await store.servers.eachKey(KEYS_LOOKED_AT, (key) => {
    const owner = ownerOf(key);
    if (owner?.prefix === prefix) queues.set(owner.queue, (queues.get(owner.queue) ?? 0) + 1);
    else if (owner === undefined) {
      foreign++;
      example ||= key;
    }
  });
  // Asked last, as a queue may have been used for the first time meanwhile.
  for (const { name } of await inspector.queues()) queues.delete(name);
  queues.delete(DIRECTORY);
  const unused = [...queues].map(([name, count]) => `'${name}' (${count})`).sort();
  const problems = [
    ...(unused.length > 0
      ? [
          `Keys of queues that nobody has used: ${firstFew(unused, NAMED)}. Delete them if a name was misspelt: see docs/operations.md, "Empty a queue for good".`,
        ]
      : []),
    ...(foreign > 0
      ? [
          `Keys under '${prefix}:' that are no queue's: ${foreign}, such as '${example}'. Unless a relay of yours writes there, give whoever does another prefix.`,
        ]
      : []),
  ];
  if (problems.length === 0 && !isWhole)
    throw new NotKnown(`Only ${KEYS_LOOKED_AT} keys of each server were looked at.`);
  return problems;
}

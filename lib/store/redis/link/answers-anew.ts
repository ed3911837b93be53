import type { Client } from './client.js';
import { NONE_YET, Waits } from './waits.js';

/**
 * Connects a client, reads one key for each name, and closes the client. Answers the names whose keys Redis has read within so many ms: an
 * error is no such answer. On a cluster the node that holds a key is the one that is asked. Never rejects.
 */
export async function answersAnew(
  client: Client,
  keys: ReadonlyMap<string, string>,
  withinMs: number,
): Promise<string[]> {
  const giveUpAt = performance.now() + withinMs;
  const waits = new Waits();
  client.on('error', () => {});
  const connected = client.connect();
  const answers = [...keys].map(async ([name, key]) => {
    const read = connected.then(() => client.exists(key));
    const answer = await waits.answer(read, giveUpAt).catch(() => NONE_YET);
    return answer === NONE_YET ? [] : [name];
  });
  const answering = (await Promise.all(answers)).flat();
  client.disconnect();
  return answering;
}

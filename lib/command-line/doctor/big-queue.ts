import type { BareInstance } from '../bare-instance.js';

/** MIGRATE moves a key whole, and both nodes stand still meanwhile: for twelve seconds with 290 MB, and 750 MB could not be moved at all. */
const MOVABLE_BYTES = 256 * 1024 * 1024;

export async function bigQueue({ store }: BareInstance, queue: string): Promise<string[]> {
  const { key, bytes } = await store.inspection(queue).largestHash();
  if (bytes < MOVABLE_BYTES) return [];
  return [
    `The key ${key} holds about ${Math.round(bytes / 1024 / 1024)} MiB, and a cluster moves a key whole: both nodes stand still meanwhile, or the move fails. Let queue '${queue}' drain before its slot is moved, and spread its jobs over several queues.`,
  ];
}

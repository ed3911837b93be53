import type { BareInstance } from '../bare-instance.js';

/** 500 000 jobs of 300 bytes, with their ids: what docs/scaling.md says a cluster can move with its default settings. */
const MOVABLE_BYTES = 160 * 1024 * 1024;

export async function bigQueue({ store }: BareInstance, queue: string): Promise<string[]> {
  const { key, bytes } = await store.inspection(queue).largestHash();
  if (bytes < MOVABLE_BYTES) return [];
  return [
    `The key ${key} holds about ${Math.round(bytes / 1024 / 1024)} MiB, and a cluster moves a key whole: both servers stand still meanwhile, or the move fails. Before its slot is moved, let queue '${queue}' drain or give the move time: see docs/scaling.md, "Moving a big queue".`,
  ];
}

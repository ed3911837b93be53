import type { Redis } from 'ioredis';

/** A job as any reader of a relay's target finds it. */
export interface Relayed {
  id: string;
  name: string;
  queue: string;
  dueAt: number;
  createdAt: number;
  attempt: number;
  priority: number;
  version?: number;
  group?: string;
  tags?: string[];
  headers?: Record<string, string>;
  payload?: unknown;
}

/** All that a stream holds, its fields as they are. */
export async function streamEntries(redis: Redis, key: string): Promise<Record<string, string>[]> {
  return (await redis.xrange(key, '-', '+')).map(([, fields]) => toRecord(fields));
}

export function toRecord(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: fields.length / 2 }, (_, i) => fields.slice(2 * i, 2 * i + 2)));
}

/** All that a list holds. */
export async function listElements(redis: Redis, key: string): Promise<Relayed[]> {
  return (await redis.lrange(key, 0, -1)).map((element) => JSON.parse(element));
}

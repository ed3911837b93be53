import type { QueueHealth } from '../api/inspection/queue-health.js';

export interface HealthBounds {
  maxLatenessMs?: number;
  maxDead?: number;
  minWorkers?: number;
}

/** Says which bounds a queue has passed; `undefined` where it has passed none. */
export function passedBounds(
  queue: string,
  { latenessMs, dead, workers }: QueueHealth,
  { maxLatenessMs = Number.POSITIVE_INFINITY, maxDead = Number.POSITIVE_INFINITY, minWorkers = 0 }: HealthBounds,
): string | undefined {
  const passed: string[] = [];
  if (latenessMs > maxLatenessMs) passed.push(`latenessMs is ${latenessMs}, above maxLatenessMs ${maxLatenessMs}`);
  if (dead > maxDead) passed.push(`dead is ${dead}, above maxDead ${maxDead}`);
  if (workers < minWorkers) passed.push(`workers is ${workers}, below minWorkers ${minWorkers}`);
  return passed.length === 0 ? undefined : `Queue '${queue}': ${passed.join('; ')}.`;
}

import type { Provider } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { RedisScheduledQueueModuleOptions } from '../../lib/index.js';
import { ScheduledQueueHealthIndicator } from '../../lib/terminus/index.js';
import { type QueueApp, startApp } from './queue-app.js';

export interface HealthApp extends QueueApp {
  health: ScheduledQueueHealthIndicator;
}

/** An application with the indicator beside its handlers. */
export async function startHealthApp(
  providers: Provider[],
  options: RedisScheduledQueueModuleOptions = {},
): Promise<HealthApp> {
  const app = await startApp([ScheduledQueueHealthIndicator, ...providers], options, { imports: [TerminusModule] });
  return { ...app, health: app.get(ScheduledQueueHealthIndicator) };
}

/** The answer to a question, which must come in the time that the interface promises. */
export async function inTime<T>(ask: () => Promise<T>): Promise<T> {
  const from = performance.now();
  const answer = await ask();
  const tookMs = performance.now() - from;
  if (tookMs > 2_500) throw new Error(`The answer came after ${Math.round(tookMs)} ms, not within 2 500.`);
  return answer;
}

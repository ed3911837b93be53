import { diag } from '@opentelemetry/api';

/**
 * Calls what asks the SDK or a propagator: code of others, whose errors must not reach the queue. They go to the diagnostic logger of
 * OpenTelemetry, and the answer is then `undefined`.
 */
export function guarded<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    try {
      diag.error('nestjs-redis-scheduled-queue: a span is lost or incomplete, because tracing threw:', error);
    } catch {
      // Nobody is left to tell.
    }
    return undefined;
  }
}

export { ScheduledQueueTracingModule } from './scheduled-queue-tracing.module.js';
export type { ScheduledQueueTracingOptions } from './tracing-options.js';

export type { ScheduledQueueMetricsOptions } from './metrics-options.js';
export { ScheduledQueueMetricsModule } from './scheduled-queue-metrics.module.js';

export {
  ScheduledQueueHealthIndicator,
  type ScheduledQueueHealthOptions,
  type ScheduledQueueLivenessOptions,
} from './scheduled-queue.health.js';

export type { ScheduledQueueAdapterOptions } from './adapter-options.js';
export { ScheduledQueueAdapter } from './scheduled-queue.adapter.js';

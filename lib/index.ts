export type { BackoffFunction, BackoffOptions } from './core/backoff.js';
export type { DeadFilter, ReplayOptions } from './core/dead-filter.js';
export {
  defineScheduledJob,
  type JobDefinitionOptions,
  type JobOptions,
  type ScheduledJobDefinition,
} from './core/definition.js';
export type { Duration } from './core/duration.js';
export {
  DuplicateHandlerError,
  InvalidOptionsError,
  InvalidPayloadError,
  InvalidScheduleError,
  JobCancelledError,
  JobTimeoutError,
  LeaseLostError,
  type PayloadFinding,
  PayloadTooLargeError,
  QueueClosedError,
  QueueUnavailableError,
  ScheduledQueueError,
  UnrecoverableJobError,
} from './core/errors.js';
export type { DeadReason, ScheduledQueueEvent } from './core/events.js';
export type { OnLate } from './core/lateness.js';
export { JobOutcome, type SnoozeUntil } from './core/outcome.js';
export type { ValidationOptions } from './core/payload-class.js';
export type { JsonOf, PayloadOf } from './core/payload-types.js';
export type { PopOptions } from './core/pop-options.js';
export type { PoppedJob } from './core/popped-job.js';
export { JobPriority } from './core/priority.js';
export type { Keep, Ordering, QueueOptions, RateLimit } from './core/queue-options.js';
export type { RelayOptions, ScheduledQueueRelay } from './core/relay-options.js';
export type { RunOptions } from './core/run-settings.js';
export type { JobRef, RescheduleOptions, ScheduleOptions } from './core/schedule-options.js';
export { ScheduledJob, type ScheduledJobRef, type ScheduleStatus } from './core/scheduled-job.js';
export type { Explanation } from './nest/explanation.js';
export type { FailedAttempt, InspectedJob } from './nest/inspected-job.js';
export type { InspectedWorker } from './nest/inspected-worker.js';
export type { JobOverrides, RedisScheduledQueueModuleOptions, Role } from './nest/module-options.js';
export { type HandlerOptions, OnScheduledJob } from './nest/on-scheduled-job.decorator.js';
export type { QueueStats } from './nest/queue-stats.js';
export { RedisScheduledQueueModule, type ScheduledQueueOptionsFactory } from './nest/redis-scheduled-queue.module.js';
export { ScheduledQueueConsumer } from './nest/scheduled-queue.consumer.js';
export { ScheduledQueueEvents } from './nest/scheduled-queue.events.js';
export { type PauseOptions, ScheduledQueueInspector } from './nest/scheduled-queue.inspector.js';
export { type DispatchOptions, ScheduledQueueProducer, type ScheduleItem } from './nest/scheduled-queue.producer.js';
export { getScheduledQueueToken, InjectScheduledQueue } from './nest/tokens.js';
export type { JobCounts, JobState, PriorityCounts } from './store/job-store.js';
export type { ConnectionOption } from './store/redis/client.js';
export { relayKey } from './store/relay-key.js';

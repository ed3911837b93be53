export type { Explanation } from './api/inspection/explanation.js';
export type { FoundPage } from './api/inspection/find-jobs.js';
export type { ForecastBucket, ForecastOptions } from './api/inspection/forecast.js';
export type { InspectedGroup } from './api/inspection/inspected-group.js';
export type { FailedAttempt, InspectedJob } from './api/inspection/inspected-job.js';
export type { InspectedWorker } from './api/inspection/inspected-worker.js';
export type { LoadOptions, QueueLoad } from './api/inspection/queue-load.js';
export type { InspectedQueue } from './api/inspection/queue-reader.js';
export type { QueueStats } from './api/inspection/queue-stats.js';
export type { TaggedOptions } from './api/inspection/tagged-queues.js';
export type { UsedVersion } from './api/inspection/used-versions.js';
export type { RecurrenceChange } from './api/recurrence/recurrence-calls.js';
export type { RecurrenceView } from './api/recurrence/recurrence-view.js';
export type { Role } from './api/scheduled-queue.consumer.js';
export { ScheduledQueueConsumer } from './api/scheduled-queue.consumer.js';
export { ScheduledQueueEvents } from './api/scheduled-queue.events.js';
export type { PauseOptions } from './api/scheduled-queue.inspector.js';
export { ScheduledQueueInspector } from './api/scheduled-queue.inspector.js';
export { ScheduledQueueProducer, type ScheduleItem } from './api/scheduled-queue.producer.js';
export type { AppendedJobRef, TransactionProducer } from './api/transaction-producer.js';
export type { Blackout, BlackoutRange, ListedBlackout, RecurringBlackout } from './core/blackouts/blackout.js';
export { type NextOccurrencesOptions, nextOccurrences } from './core/calendar/next-occurrences.js';
export type {
  CronRule,
  ExcludedTime,
  Instant,
  IntervalRule,
  OnMissed,
  Overlap,
  RecurrencePolicy,
  RecurrenceRule,
} from './core/calendar/rule.js';
export {
  DuplicateHandlerError,
  InvalidBatchResultError,
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
  UnknownCodecError,
  UnrecoverableJobError,
} from './core/errors.js';
export type { BackoffFunction, BackoffOptions } from './core/job/backoff.js';
export { currentScheduledJob } from './core/job/current-job.js';
export type { OnLate } from './core/job/definition.js';
export {
  defineScheduledJob,
  type JobDefinitionOptions,
  type JobOptions,
  type ScheduledJobDefinition,
} from './core/job/definition.js';
export type {
  DeadReason,
  ScheduledQueueEvent,
  ScheduledQueueEventOf,
  ScheduledQueueEventType,
} from './core/job/events.js';
export type { UpgradeFunction, UpgradeSteps } from './core/job/job-versions.js';
export { JobOutcome, type SnoozeUntil } from './core/job/outcome.js';
export type { PoppedJob } from './core/job/popped-job.js';
export {
  type JobRecurrence,
  ScheduledJob,
  type ScheduledJobRef,
  type ScheduleStatus,
} from './core/job/scheduled-job.js';
export type { BatchOptions } from './core/options/batch-options.js';
export type { DeadFilter, ReplayOptions } from './core/options/dead-filter.js';
export { JobPriority } from './core/options/defaults.js';
export type { FindOptions } from './core/options/find-options.js';
export type { GroupOptions, GroupsOptions } from './core/options/group-options.js';
export type { PopOptions } from './core/options/pop-options.js';
export type { PreparedJob } from './core/options/prepared-job.js';
export type { Keep, Ordering, QueueOptions, StreamEvents } from './core/options/queue-options.js';
export type { RateLimit } from './core/options/rate-limit.js';
export type {
  BackfillRange,
  PauseRecurrenceOptions,
  RecurrenceOptions,
  RecurrenceRef,
  RecurrencesOptions,
} from './core/options/recurrence-options.js';
export type { RelayOptions, ScheduledQueueRelay } from './core/options/relay-options.js';
export type { RunOptions } from './core/options/run-settings.js';
export type { DispatchOptions, JobRef, RescheduleOptions, ScheduleOptions } from './core/options/schedule-options.js';
export type { SharedKeep, SharedOptions } from './core/options/shared-options.js';
export type { EventStreamOptions } from './core/options/stream-options.js';
export type { PayloadCodec } from './core/payload/codec.js';
export type { ValidationOptions } from './core/payload/payload-class.js';
export type { JsonOf, PayloadOf } from './core/payload/payload-types.js';
export type { Duration } from './core/read/duration.js';
export type { ScheduledQueueStreamedEvent, StreamedError, StreamGap } from './core/stream/streamed-event.js';
export { type JobEventOptions, OnScheduledJobEvent } from './nest/events/on-scheduled-job-event.decorator.js';
export { type HandlerOptions, OnScheduledJob } from './nest/handlers/on-scheduled-job.decorator.js';
export type { DeclaredRecurrenceOptions } from './nest/handlers/recurrence-options.js';
export type { JobOverrides } from './nest/job-overrides.js';
export type { RedisScheduledQueueModuleOptions } from './nest/module-options.js';
export { RedisScheduledQueueModule, type ScheduledQueueOptionsFactory } from './nest/redis-scheduled-queue.module.js';
export { getScheduledQueueToken, InjectScheduledQueue } from './nest/tokens.js';
export type { EndedState, JobCounts, JobState, PriorityCounts } from './store/queue-view.js';
export type { RecurrenceState } from './store/recurrences.js';
export type { ConnectionOption } from './store/redis/link/client.js';
export { relayKey } from './store/redis/relay-key.js';

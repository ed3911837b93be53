export { createScheduledJob, type ScheduledJobOverrides } from './create-scheduled-job.js';
export { ScheduledQueueTestError } from './errors.js';
export type { AwaitedState } from './look/ends.js';
export type { JobExpectation, PayloadPart } from './look/expectations.js';
export type { RunJobOptions, RunOutcome, RunResult, TestedRun } from './look/tested-run.js';
export type { WaitingJob } from './look/waiting-jobs.js';
export type { AnyJob } from './read-arguments.js';
export { ScheduledQueueTester } from './scheduled-queue.tester.js';
export {
  overrideScheduledQueue,
  ScheduledQueueTestingModule,
  type ScheduledQueueTestingModuleOptions,
  type TestingOptions,
} from './scheduled-queue-testing.module.js';

import type { JobIdMaker } from '../../core/job/job-id.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { CallerPool } from './calls/caller-pool.js';
import { RedisClearing } from './calls/clearing.js';
import { ControlCalls } from './calls/control-calls.js';
import { RedisDeadLetters } from './calls/dead-letters.js';
import { RedisGate } from './calls/gate.js';
import { RedisTaggedJobs } from './calls/tagged-jobs.js';
import { queueKeys } from './keys.js';
import type { RedisConnection } from './link/connection.js';
import { ServerClock } from './link/server-clock.js';
import { ScheduleOutbox } from './schedule/schedule-outbox.js';
import { RedisInspection } from './view/inspection.js';
import { RedisPresence } from './view/presence.js';

/** A receipt is kept at least this long: longer than any copy of its call can be on its way. */
const KEEP_RECEIPT_MS = 60_000;

/** All that is asked of one queue, but the turns of its workers, by what it is about. */
export interface QueueParts {
  outbox: ScheduleOutbox;
  control: ControlCalls;
  deadLetters: RedisDeadLetters;
  clearing: RedisClearing;
  gate: RedisGate;
  tagged: RedisTaggedJobs;
  inspection: RedisInspection;
  presence: RedisPresence;
}

export interface QueuePartsOptions {
  prefix: string;
  commandTimeoutMs: number;
  clustered: boolean;
}

/** They share a connection, a clock and, but for schedules, the callers of their calls. Nothing is sent yet. */
export function openQueueParts(
  queue: string,
  connection: RedisConnection,
  ids: JobIdMaker,
  { keepIdsMs, leaseMs, stealAfterMs }: QueueSettings,
  { prefix, commandTimeoutMs, clustered }: QueuePartsOptions,
): QueueParts {
  const keys = queueKeys(prefix, queue);
  const clock = new ServerClock(keys);
  const options = {
    queue,
    clustered,
    keepReceiptMs: Math.max(KEEP_RECEIPT_MS, keepIdsMs, 2 * commandTimeoutMs),
    stealAfterMs,
    commandTimeoutMs,
  };
  const callers = new CallerPool(connection, clock, keys, options);
  return {
    outbox: new ScheduleOutbox(connection, clock, keys, ids, options),
    control: new ControlCalls(callers, keys, options),
    deadLetters: new RedisDeadLetters(callers, keys, options),
    clearing: new RedisClearing(callers, keys),
    gate: new RedisGate(callers, connection, keys, options),
    tagged: new RedisTaggedJobs(callers, keys, options),
    inspection: new RedisInspection(connection, keys, commandTimeoutMs),
    presence: new RedisPresence(connection, keys, { commandTimeoutMs, withinMs: leaseMs }),
  };
}

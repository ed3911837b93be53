import type { JobIdMaker } from '../../core/job/job-id.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { RedisClearing } from './calls/clearing.js';
import { ControlCalls } from './calls/control-calls.js';
import { RedisDeadLetters } from './calls/dead-letters.js';
import { RedisGate } from './calls/gate.js';
import { SlotPool } from './calls/slot-pool.js';
import { RedisTaggedJobs } from './calls/tagged-jobs.js';
import { queueKeys } from './keys.js';
import type { RedisConnection } from './link/connection.js';
import { ServerClock } from './link/server-clock.js';
import { ScheduleOutbox } from './schedule/schedule-outbox.js';
import { RedisInspection } from './view/inspection.js';
import { RedisPresence } from './view/presence.js';

/** A record of a call is kept at least this long: longer than any copy of the call can be on its way. */
const KEEP_CALL_RECORD_MS = 60_000;

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

/** They share a connection, a clock and, but for schedules, the slots of their calls. Nothing is sent yet. */
export function openQueueParts(
  queue: string,
  connection: RedisConnection,
  ids: JobIdMaker,
  { keepIdsMs, leaseMs, stealAfterMs }: QueueSettings,
  { prefix, commandTimeoutMs, clustered }: QueuePartsOptions,
): QueueParts {
  const keys = queueKeys(prefix, queue);
  const clock = new ServerClock(keys);
  const slots = new SlotPool(connection, clock, keys, commandTimeoutMs);
  const options = {
    queue,
    clustered,
    keepRecordMs: Math.max(KEEP_CALL_RECORD_MS, keepIdsMs, 2 * commandTimeoutMs),
    stealAfterMs,
    commandTimeoutMs,
  };
  return {
    outbox: new ScheduleOutbox(connection, clock, keys, ids, options),
    control: new ControlCalls(slots, keys, options),
    deadLetters: new RedisDeadLetters(slots, keys, options),
    clearing: new RedisClearing(slots, keys, options),
    gate: new RedisGate(slots, connection, keys, options),
    tagged: new RedisTaggedJobs(slots, keys, options),
    inspection: new RedisInspection(connection, keys, commandTimeoutMs),
    presence: new RedisPresence(connection, keys, { commandTimeoutMs, withinMs: leaseMs }),
  };
}

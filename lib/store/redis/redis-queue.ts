import { hostname } from 'node:os';
import type { JobIdMaker } from '../../core/job/job-id.js';
import type { Log } from '../../core/log.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { sharedOptions } from '../../core/options/shared-options.js';
import type { QueueStore } from '../job-store.js';
import { RedisBlackouts } from './calls/blackouts.js';
import { Caller } from './calls/caller.js';
import { CallerPool } from './calls/caller-pool.js';
import { RedisClearing } from './calls/clearing.js';
import { RedisDeadLetters } from './calls/dead-letters.js';
import { RedisGate } from './calls/gate.js';
import { RedisGroups } from './calls/groups.js';
import { RedisQueueJobs } from './calls/queue-jobs.js';
import { RedisSets } from './calls/sets.js';
import { RedisTaggedJobs } from './calls/tagged-jobs.js';
import type { ClockLog } from './checks/clock-log.js';
import { IndexWatch } from './checks/index-watch.js';
import { OptionsWatch } from './checks/options-watch.js';
import type { CompletionListener } from './codec/completion-fields.js';
import { encodeKeepEnded } from './codec/ending-text.js';
import { encodeGroupsRule } from './codec/group-text.js';
import { listOptions } from './codec/listed-options.js';
import type { QueueReplicas } from './confirm/replicas.js';
import { EventWriter } from './events/event-writer.js';
import { RedisEvents } from './events/redis-events.js';
import { queueKeys } from './keys.js';
import { annotated } from './link/call-error.js';
import { linkOf } from './link/queue-link.js';
import type { MessageLink, RedisLink } from './link/redis-link.js';
import { ServerClock } from './link/server-clock.js';
import { RedisDeclarations } from './recur/declarations.js';
import { RedisRecurrences } from './recur/redis-recurrences.js';
import { RedisTending } from './recur/redis-tending.js';
import { ScheduleOutbox } from './schedule/schedule-outbox.js';
import type { SessionLink } from './session/redis-session.js';
import { RedisSessions } from './session/redis-sessions.js';
import { RedisInspection } from './view/inspection.js';
import { RedisPresence } from './view/presence.js';
import { RedisSearch } from './view/search.js';

/** A receipt is kept at least this long. */
const KEEP_RECEIPT_MS = 60_000;

/** How long receipts of a queue are kept, in ms: as long as an id may come back, and longer than any copy of a call is on its way. */
export function keepReceiptMsOf({ keepIdsMs }: QueueSettings, commandTimeoutMs: number): number {
  return Math.max(KEEP_RECEIPT_MS, keepIdsMs, 2 * commandTimeoutMs);
}

export interface RedisQueueOptions {
  prefix: string;
  commandTimeoutMs: number;
  clustered: boolean;
  /** The id of the codec that payloads are written with. */
  codec: string;
  log: Log;
  clockLog: ClockLog;
  /** To be called at each use of the queue: notes it in the directory of queues. */
  isUsed(): void;
  /** By this, sessions look at different times. */
  random(): number;
  /** Hears of the completion jobs that its calls have scheduled. */
  completed: CompletionListener;
  /** Which replicas its calls wait for; none where nothing is given. */
  replicas?: QueueReplicas;
}

/** The links of a store that its queues share. Sessions have one of their own, so that neither they nor producers wait behind the others. */
export interface StoreLinks {
  readonly forCalls: RedisLink;
  /** Opened when a first session is. */
  forSessions(): SessionLink;
  /** Opened when somebody first listens, and also used by sessions. */
  forMessages(): MessageLink;
}

/** One queue in Redis. Its roles share a connection, a clock and, but for schedules, the callers of their calls. Nothing is sent yet. */
export function openRedisQueue(
  queue: string,
  settings: QueueSettings,
  links: StoreLinks,
  ids: JobIdMaker,
  { prefix, commandTimeoutMs, clustered, codec, log, clockLog, isUsed, random, completed, replicas }: RedisQueueOptions,
): QueueStore {
  const { leaseMs, keepIdsMs, stealAfterMs, rateLimit, ordering, streamEvents } = settings;
  const connection = links.forCalls;
  const keys = queueKeys(prefix, queue);
  const link = linkOf(queue, connection, keys);
  const jumped = (byMs: number) => clockLog.jumped(byMs);
  const clock = new ServerClock(connection, keys, jumped);
  const keepReceiptMs = keepReceiptMsOf(settings, commandTimeoutMs);
  const given = { clustered, stealAfterMs, keepEnded: encodeKeepEnded(settings.keepEnded) };
  const options = { queue, keepReceiptMs, given, commandTimeoutMs, replicas };
  const callers = new CallerPool(connection, clock, keys, options);
  const tending = new RedisTending(callers, clock, keys);
  const gate = new RedisGate(callers, link, keys, { ...options, rateLimit });
  const groups = new RedisGroups(callers, link, keys, { commandTimeoutMs, groupsRule: encodeGroupsRule(settings) });
  const blackouts = new RedisBlackouts(callers, link, keys, options);
  const inspection = new RedisInspection(link, keys, commandTimeoutMs);
  const search = new RedisSearch(link, keys, commandTimeoutMs);
  const presence = new RedisPresence(link, keys, { commandTimeoutMs, withinMs: leaseMs });
  const clearing = new RedisClearing(callers, keys, tending, completed);
  const tagged = new RedisTaggedJobs(callers, keys, tending, completed);
  const outbox = new ScheduleOutbox(connection, clock, keys, ids, options);
  const deadLetters = new RedisDeadLetters(callers, keys);
  const indexWatch = new IndexWatch(queue, (session) => inspection.placement(session), log);
  const shared = sharedOptions(settings, codec);
  const listedOptions = listOptions(shared);
  const place = { host: hostname(), pid: process.pid };
  const optionsWatch = new OptionsWatch(
    queue,
    shared,
    () => presence.differing(listedOptions.digest),
    log,
    place,
    performance,
  );
  const writer =
    streamEvents &&
    new EventWriter(new Caller(connection, clock, keys, options), keys, { queue, ...streamEvents, log });
  return {
    jobs: new RedisQueueJobs(outbox, callers, keys, tending, queue, isUsed, completed),
    sets: new RedisSets(callers, link, keys, { keepIdsMs, commandTimeoutMs, isUsed, completed }),
    management: {
      pause: (forMs) => gate.pause(forMs),
      resume: () => gate.resume(),
      setGroup: (group, set) => groups.set(group, set),
      pauseGroup: (group, forMs) => groups.pause(group, forMs),
      resumeGroup: (group) => groups.resume(group),
      setBlackouts: (rules) => blackouts.set(rules),
      tendBlackouts: () => blackouts.tend(),
      clear: () => clearing.clear(),
      cancelTagged: (tag, told) => tagged.cancel(tag, told),
      shiftTagged: (tag, byMs) => tagged.shift(tag, byMs),
      replayDead: (which = {}, due, perSecond) =>
        typeof which === 'string'
          ? annotated(deadLetters.replayOne(which, due), { jobId: which })
          : deadLetters.replayMany(which, due, perSecond),
      purgeDead: (which = {}) => deadLetters.purge(which),
    },
    view: {
      counts: () => inspection.counts(),
      countsByPriority: () => inspection.countsByPriority(),
      nextDue: () => inspection.nextDue(),
      nextFree: () => groups.nextFree(),
      overview: (withinMs) => inspection.overview(withinMs),
      stats: () => inspection.stats(),
      job: (id) => annotated(inspection.job(id), { jobId: id }),
      list: (state, offset, limit, as) => inspection.list(state, offset, limit, ordering, as),
      peek: (count, as) => inspection.peek(count, ordering, as),
      forecast: (boundsMs) => inspection.forecast(boundsMs),
      find: (selection, place, step) => search.find(selection, place, step),
      handledBy: (name, version) => annotated(presence.handledBy(name, version), { jobName: name }),
      versionsHandled: (name) => annotated(presence.versionsHandled(name), { jobName: name }),
      versions: (name) => annotated(inspection.versions(name), { jobName: name }),
      workers: () => presence.workers(),
      pausedUntil: () => gate.pausedUntil(),
      limits: () => gate.limits(),
      group: (group) => groups.group(group),
      groups: (limit) => groups.groups(limit),
      heldDue: () => groups.heldDue(),
      blackouts: () => blackouts.read(),
    },
    recurrences: new RedisRecurrences(callers, link, clock, keys, { ...options, tending, blackouts, isUsed }),
    declarations: new RedisDeclarations(callers, link, clock, keys, { ...options, isUsed }),
    sessions: new RedisSessions(() => links.forSessions(), keys, settings, {
      queue,
      prefix,
      given,
      jumped,
      isUsed,
      random,
      listedOptions,
      isListed: (session) => {
        indexWatch.listed(session);
        optionsWatch.listed(session);
      },
    }),
    events: new RedisEvents(link, keys, options, () => links.forMessages(), writer || undefined),
  };
}

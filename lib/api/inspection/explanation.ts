import { type SkipReason, WHY_SKIPPED } from '../../core/calendar/rule.js';
import { FIRST_VERSION } from '../../core/job/job-versions.js';
import { ANY_COUNT, type KeepRule, type QueueSettings } from '../../core/options/queue-options.js';
import type { RateRule } from '../../core/options/rate-limit.js';
import { span } from '../../core/read/duration.js';
import type { HeldBy, KnownGroup, LimitsUse, LiveWorker, QueueView, StoredJob } from '../../store/job-store.js';
import { type InspectedJob, inspectAllButPayload } from './inspected-job.js';

/** Why a job has not run yet, or what has become of it. */
export interface Explanation {
  /**
   * - `unknown`: there is no such job. It may have ended: `keepCompleted` and `keepEnded` say which of these are kept;
   * - `active`, `completed`, `dead`: it has run;
   * - `discarded`, `cancelled`: it has ended in that way, and `keepEnded` keeps it;
   * - `not-due`: it waits for its due time;
   * - `paused`: it is due, and its queue is paused;
   * - `blackout`: it is due, and its queue is in a blackout;
   * - `group-paused`: it is due, and its group is paused;
   * - `group-rate`, `group-concurrency`: it is due, and that limit of its group is used up;
   * - `group-order`: it is due, and the job of its group that has begun is to end first, as `groups.order` is `'fifo'`;
   * - `no-handler`: it is due, and no worker that is alive handles its name, or none in its version: the message names the versions;
   * - `waiting-for-worker`: it is due, and left to the worker that it prefers for a while yet;
   * - `concurrency`: it is due, and as many jobs run as `globalConcurrency` allows;
   * - `rate-limited`: it is due, and the queue's `rateLimit` is used up;
   * - `suspect`: it is due, has one crash left before `maxCrashes`, and waits for a process that holds nothing else;
   * - `overlap`: it is an occurrence of a recurrence whose `overlap` is `'queue'`, and waits for the end of the previous occurrence;
   * - `behind`: it is due, and waits for a worker to have room.
   */
  code:
    | 'not-due'
    | 'paused'
    | 'blackout'
    | 'group-paused'
    | 'group-rate'
    | 'group-order'
    | 'group-concurrency'
    | 'no-handler'
    | 'waiting-for-worker'
    | 'concurrency'
    | 'rate-limited'
    | 'suspect'
    | 'overlap'
    | 'behind'
    | 'active'
    | 'completed'
    | 'dead'
    | 'discarded'
    | 'cancelled'
    | 'unknown';
  /** For people; its wording may change. If stuck handlers take the places that the job waits for, it names the job of the one stuck longest. */
  message: string;
}

export async function explainJob(
  view: QueueView,
  queue: string,
  id: string,
  settings: QueueSettings,
): Promise<Explanation> {
  const stored = await view.job(id);
  if (!stored) {
    return { code: 'unknown', message: `Queue '${queue}' has no job '${id}'. ${whyGone(settings)}` };
  }
  const job = inspectAllButPayload(queue, stored);
  const what = `Job '${job.name}' (${id}) of queue '${queue}'`;
  switch (job.state) {
    case 'active': {
      const worker = (await view.workers()).find(({ id }) => id === job.worker);
      const seen = worker
        ? `last heard of at ${new Date(worker.lastSeenAtMs).toISOString()}`
        : 'which is not heard of any more';
      return {
        code: 'active',
        message: `${what} is active in worker '${job.worker}' (${seen}), in attempt ${job.attempts}; its lease holds until ${job.leaseUntil?.toISOString()}.`,
      };
    }
    case 'completed':
      return { code: 'completed', message: `${what} completed at ${job.endedAt?.toISOString()}.` };
    case 'dead': {
      const last = lastFailure(job);
      return {
        code: 'dead',
        message: `${what} has been dead since ${job.endedAt?.toISOString()} (${job.reason})${last ? `: ${last}` : ''}.`,
      };
    }
    case 'discarded':
      return {
        code: 'discarded',
        message: `${what} was discarded at ${job.endedAt?.toISOString()}${whyDiscarded(job)}.`,
      };
    case 'cancelled':
      return { code: 'cancelled', message: `${what} was cancelled at ${job.endedAt?.toISOString()} (${job.reason}).` };
    case 'scheduled': {
      // While it waits for that, its due time is moved a moment ahead again and again.
      if (stored.waitsForEndOf !== undefined) return heldBack(what, stored.waitsForEndOf);
      const attempts = job.attempts === 1 ? '1 attempt' : `${job.attempts} attempts`;
      const last = lastFailure(job);
      const after = job.attempts > 0 ? `, after ${attempts}${last ? `; the last failure was: ${last}` : ''}` : '';
      return { code: 'not-due', message: `${what} is due at ${job.dueAt.toISOString()}${after}.` };
    }
    case 'due':
      return explainDue(view, job, what, settings, stored);
  }
}

function heldBack(what: string, previous: string): Explanation {
  return {
    code: 'overlap',
    message: `${what} waits for the previous occurrence, job '${previous}', to end: the overlap of its recurrence is 'queue'.`,
  };
}

function lastFailure({ failures }: InspectedJob): string | undefined {
  const { message, cause } = failures.at(-1) ?? {};
  // The caller adds the full stop.
  return cause === undefined ? message?.replace(/\.$/, '') : `${message} (cause: ${cause})`;
}

/** Before its first attempt the library has discarded it. Later it may have been the handler, whose reason may be any text. */
function whyDiscarded({ reason = '', attempts, dueAt, endedAt, maxLatenessMs }: InspectedJob): string {
  if (attempts === 0 && reason === 'late' && maxLatenessMs !== undefined)
    return `: it could only begin ${span(endedAt!.getTime() - dueAt.getTime())} after it was due, and its maxLatenessMs is ${span(maxLatenessMs)}`;
  const why = attempts === 0 ? (WHY_SKIPPED[reason as SkipReason] ?? reason) : reason;
  return why === '' ? '' : `: ${why}`;
}

function whyGone({ keepCompleted, keepEnded }: QueueSettings): string {
  const completed = whatIsKept('keepCompleted', 'completed', keepCompleted);
  const ended = whatIsKept('keepEnded', 'discarded and cancelled', keepEnded);
  return `It may have completed (${completed}); it may have been discarded or cancelled (${ended}); or it was removed or purged, or was never scheduled in this queue.`;
}

function whatIsKept(option: string, which: string, { count, ageMs }: KeepRule): string {
  if (count === 0) return `${which} jobs are not kept, as ${option} is 0`;
  if (count === ANY_COUNT) return `${option} keeps ${which} jobs for ${span(ageMs)}`;
  return `${option} keeps the last ${count} ${which} jobs${ageMs > 0 ? `, for at most ${span(ageMs)}` : ''}`;
}

async function explainDue(
  view: QueueView,
  job: InspectedJob,
  what: string,
  settings: QueueSettings,
  { isSuspect = false, waitsForEndOf }: StoredJob,
): Promise<Explanation> {
  const { name, version } = job;
  const pausedUntilMs = await view.pausedUntil();
  // First, as it may be that nobody works at a queue because it is paused.
  if (pausedUntilMs !== undefined) {
    return {
      code: 'paused',
      message: `${what} is due, but its queue is paused until ${endOfPause(pausedUntilMs)}.`,
    };
  }
  const { untilMs } = await view.blackouts();
  if (untilMs !== undefined) {
    const end = Number.isFinite(untilMs)
      ? `is in a blackout until ${new Date(untilMs).toISOString()}`
      : 'is shut until a worker has computed its next blackouts';
    return { code: 'blackout', message: `${what} is due, but its queue ${end}.` };
  }
  const held = job.group === undefined ? undefined : explainGroup(await view.group(job.group), what, settings);
  if (held) return held;
  const handlers = await view.handledBy(name, version);
  if (handlers.count === 0) {
    return { code: 'no-handler', message: `${what} is due, ${unhandled(version, await view.versionsHandled(name))}` };
  }
  if (waitsForEndOf !== undefined) return heldBack(what, waitsForEndOf);
  const use = await view.limits();
  // Any process that is empty may take a suspect, whichever worker it preferred.
  const preference = isSuspect ? undefined : await explainPreference(view, job, what, settings, use);
  const kept = preference ?? explainLimits(use, what, settings);
  if (kept) return kept;
  if (isSuspect) {
    return {
      code: 'suspect',
      message: `${what} is due and has one crash left (${job.crashes} of ${settings.maxCrashes}): it runs alone, once a process holds nothing else.${await explainStuck(view, name)}`,
    };
  }
  const { due, active } = await view.counts();
  const workers = handlers.count === 1 ? `worker '${handlers.workers[0]}'` : `one of ${handlers.count} workers`;
  return {
    code: 'behind',
    message: `${what} is due and waits for room in ${workers}; in the queue, ${due} due and ${active} active.${await explainStuck(view, name)}`,
  };
}

function unhandled(version: number, handled: readonly number[]): string {
  const [only] = handled;
  if (only === undefined) {
    const named = version === FIRST_VERSION ? 'that name' : `that name, of which it has version ${version}`;
    return `but no worker that runs at present handles ${named}: it waits for one that does.`;
  }
  const versions = handled.length === 1 ? `version ${only}` : `versions ${handled.join(', ')}`;
  return `but it has version ${version}, and the workers that run at present handle ${versions} of that name: it waits for one that handles its own.`;
}

function explainGroup(known: KnownGroup, what: string, settings: QueueSettings): Explanation | undefined {
  const { group, heldBy } = known;
  return (
    heldBy && {
      code: `group-${heldBy}`,
      message: `${what} is due, but its group '${group}' ${whyHeld(heldBy, known, settings)}.`,
    }
  );
}

function whyHeld(
  heldBy: HeldBy,
  { settings: { concurrency, rateLimit }, pausedUntilMs, opensAtMs }: KnownGroup,
  { groups }: QueueSettings,
): string {
  switch (heldBy) {
    case 'paused':
      return `is paused until ${endOfPause(pausedUntilMs!)}`;
    case 'rate': {
      // What is unlimited holds no group.
      const { max, perMs } = (rateLimit ?? groups.rateLimit) as RateRule;
      // No time is known where, besides, a job of it has to end first.
      const then = opensAtMs === undefined ? '' : `; its next job may start at ${new Date(opensAtMs).toISOString()}`;
      return `has used up its rateLimit of ${max} in ${span(perMs)}${then}`;
    }
    case 'order':
      return `has a job that has begun and is to end first, as groups.order is 'fifo'`;
    case 'concurrency':
      return `runs as many jobs as its concurrency lets, ${concurrency ?? groups.concurrency}`;
  }
}

const endOfPause = (untilMs: number) =>
  Number.isFinite(untilMs) ? new Date(untilMs).toISOString() : 'somebody resumes it';

/** A sentence about stuck handlers of the workers that handle this name; '' if there are none. */
async function explainStuck(view: QueueView, name: string): Promise<string> {
  return stuckIn((await view.workers()).filter(({ handles }) => handles.includes(name)));
}

function stuckIn(workers: readonly LiveWorker[]): string {
  const places = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const taken = workers.reduce((sum, { stuck }) => sum + (stuck?.weight ?? 0), 0);
  const all = workers.flatMap(({ id: worker, stuck }) => (stuck ? [{ worker, ...stuck }] : []));
  const [longest] = all.sort((a, b) => a.sinceMs - b.sinceMs);
  if (!longest) return '';
  const { id, name, worker, sinceMs } = longest;
  return ` Stuck handlers take ${taken} of the ${places} places of the workers that could run it. The longest is that of job '${name}' (${id}) in worker '${worker}', since ${new Date(sinceMs).toISOString()}; a place is free only once its handler returns.`;
}

async function explainPreference(
  view: QueueView,
  { preferredWorker, dueAt }: InspectedJob,
  what: string,
  { stealAfterMs }: QueueSettings,
  { nowMs }: LimitsUse,
): Promise<Explanation | undefined> {
  if (preferredWorker === undefined) return undefined;
  const leftUntil = new Date(dueAt.getTime() + stealAfterMs);
  const preferred = (await view.workers()).find(({ id }) => id === preferredWorker);
  if (!preferred || nowMs >= leftUntil.getTime()) return undefined;
  return {
    code: 'waiting-for-worker',
    message: `${what} is due and left to worker '${preferredWorker}', which it prefers, until ${leftUntil.toISOString()}; then any may take it.${stuckIn([preferred])}`,
  };
}

function explainLimits(
  { running, started, opensAtMs }: LimitsUse,
  what: string,
  { globalConcurrency, rateLimit }: QueueSettings,
): Explanation | undefined {
  if (running >= globalConcurrency) {
    return {
      code: 'concurrency',
      message: `${what} is due, but as many jobs run as the queue's globalConcurrency lets, ${globalConcurrency}.`,
    };
  }
  if (rateLimit && started >= rateLimit.max) {
    return {
      code: 'rate-limited',
      message: `${what} is due, but the queue's rateLimit of ${rateLimit.max} in ${span(rateLimit.perMs)} is used up; the next job may start at ${new Date(opensAtMs).toISOString()}.`,
    };
  }
  return undefined;
}

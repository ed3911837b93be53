import { toRecurrenceRule } from '../../core/calendar/read-rule.js';
import type { RecurrenceRule } from '../../core/calendar/rule.js';
import type { Codecs } from '../../core/payload/codecs.js';
import { isReadable } from '../../store/envelope.js';
import type { RecurrenceState, StoredRecurrence } from '../../store/job-store.js';

/** All that is known of a recurrence. You can pass it to every call that takes one. */
export interface RecurrenceView {
  /** Unique in its queue. */
  id: string;
  /** The queue of the recurrence and its jobs. */
  queue: string;
  /** The name of its jobs; empty if Redis has lost what the jobs are made of, or if it cannot be read. */
  name: string;
  /** What differs from the defaults, as you would write it. */
  rule: RecurrenceRule;
  /** As JSON or its codec gives it back, before any class; `undefined` if it cannot be read, or if its codec is not known here. */
  payload: unknown;
  /** `ended`: no occurrence is to come any more; it stays listed for a day. */
  state: RecurrenceState;
  /** What `pauseRecurrence` was given; missing if nothing was, or if it is not paused. */
  reason?: string;
  /** The instant of the next occurrence, without jitter; `null` while it is paused, and once it has ended. */
  nextAt: Date | null;
  /** The instant of the latest occurrence that has begun by the rule; `null` if none has. */
  lastAt: Date | null;
  /** How many occurrences have begun by the rule, across changes of it. */
  count: number;
  /** `true` if `@OnScheduledJob` or the module's `jobs` declares it; `false` if `upsertRecurrence` made it. */
  declared: boolean;
  /** The module option `app` of whoever declares it. */
  app?: string;
  /** The module option `revision` of whoever declares it. */
  revision?: number;
}

/** A stored recurrence as users see it; what cannot be read of it is left out rather than thrown. */
export async function toRecurrenceView(
  queue: string,
  { id, rule, template, state, reason, nextAtMs, lastAtMs, count, declaredBy }: StoredRecurrence,
  codecs: Codecs,
): Promise<RecurrenceView> {
  const name = isReadable(template) ? template.name : '';
  let payload: unknown;
  try {
    if (isReadable(template)) payload = await codecs.decode(template, { queue, name, id });
  } catch {}
  return {
    id,
    queue,
    name,
    rule: toRecurrenceRule(rule),
    payload,
    state,
    ...(reason !== undefined && { reason }),
    nextAt: dateOf(nextAtMs),
    lastAt: dateOf(lastAtMs),
    count,
    declared: declaredBy !== undefined,
    ...(declaredBy && { app: declaredBy.app }),
    ...(declaredBy?.revision !== undefined && { revision: declaredBy.revision }),
  };
}

export function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

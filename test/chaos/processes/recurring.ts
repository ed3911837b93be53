import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidScheduleError, QueueUnavailableError, type ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { History, RecurrenceAnswerLine, RecurrenceOperation } from '../history.js';
import { monotonicMs } from '../history.js';
import type { PlannedRecurrenceOperation } from '../recurrence-plan.js';
import { instantAfter, RECURRENCE_IDS, RECURRENCES, ruleOf } from '../recurrences.js';

const ASKED_EVERY_MS = 100;
/** All stands again by then: one is enough, unless something is wrong. */
const REMOVED_WITHIN_TRIES = 3;

type Told = Pick<RecurrenceAnswerLine, 'changed' | 'id' | 'count'>;

/** Makes calls about recurrences, and notes each before and after. */
export class Recurring {
  private calls = 0;

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly history: History,
    /** Cancels the job of an id, as other jobs are. */
    private readonly cancel: (target: { token: string; queue: 'default' | 'kept' }) => Promise<void>,
  ) {}

  /** As each process of an application would when it starts. */
  async upsertAll(): Promise<void> {
    await Promise.all(RECURRENCE_IDS.map((recurrence) => this.upsert(recurrence)));
  }

  perform(planned: PlannedRecurrenceOperation): Promise<unknown> {
    const { recurrence, operation } = planned;
    const ref = refOf(recurrence);
    switch (operation) {
      case 'upsert':
        return this.upsert(recurrence);
      case 'pause':
        return this.change(operation, recurrence, () => this.producer.pauseRecurrence(ref, { reason: 'chaos' }));
      case 'resume':
        return this.change(operation, recurrence, () => this.producer.resumeRecurrence(ref));
      case 'runNow':
        return this.noted(operation, recurrence, async () => ({ id: (await this.producer.runRecurrenceNow(ref)).id }));
      case 'backfill': {
        const range = { from: Date.now() - planned.reachMs, to: Date.now() };
        return this.noted(operation, recurrence, async () => ({
          count: await this.producer.backfillRecurrence(ref, range),
        }));
      }
      case 'cancel': {
        const { stepMs } = RECURRENCES[recurrence]!;
        const at = instantAfter(RECURRENCES[recurrence]!, Date.now()) + planned.ahead * stepMs;
        return this.cancel({ token: `${recurrence}@${at}`, queue: ref.queue });
      }
    }
  }

  /** Notes of each whether it goes on within this time, then removes it. */
  async end(withinMs: number): Promise<void> {
    await Promise.all(RECURRENCE_IDS.map((recurrence) => this.endOne(recurrence, withinMs)));
  }

  private async endOne(recurrence: string, withinMs: number): Promise<void> {
    const ref = refOf(recurrence);
    const { treatment, overlap } = RECURRENCES[recurrence]!;
    if (treatment === 'pause') await this.perform({ pauseMs: 0, recurrence, operation: 'resume' });
    // The previous occurrence may be a suspect, which waits for its turn much longer.
    if (overlap !== 'queue') {
      const from = monotonicMs();
      const since = Date.now();
      let done = false;
      while (!done && monotonicMs() - from < withinMs) {
        await sleep(ASKED_EVERY_MS);
        const found = await this.producer.recurrence(ref).catch(() => null);
        done = (found?.lastAt?.getTime() ?? 0) >= since;
      }
      this.history.note({ type: 'recurred', recurrence, from, done });
    }
    const remove = () => this.change('remove', recurrence, () => this.producer.removeRecurrence(ref));
    for (let tries = 0; tries < REMOVED_WITHIN_TRIES && (await remove()) !== 'ok'; tries++);
  }

  private upsert(recurrence: string): Promise<unknown> {
    const { queue } = refOf(recurrence);
    const rule = ruleOf(RECURRENCES[recurrence]!);
    const payload = { recurrence };
    return this.change('upsert', recurrence, async () => {
      const { created } = await this.producer.upsertRecurrence(recurrence, 'recurring', payload, rule, { queue });
      return created;
    });
  }

  private change(operation: RecurrenceOperation, recurrence: string, act: () => Promise<boolean>) {
    return this.noted(operation, recurrence, async () => ({ changed: await act() }));
  }

  private async noted(operation: RecurrenceOperation, recurrence: string, act: () => Promise<Told>) {
    const call = ++this.calls;
    this.history.note({ type: 'recurrenceCall', call, operation, recurrence });
    try {
      this.history.note({ type: 'recurrenceAnswer', call, outcome: 'ok', ...(await act()) });
      return 'ok';
    } catch (error) {
      // As long as no upsert has been done.
      if (error instanceof InvalidScheduleError && /has no such recurrence/.test(error.message)) {
        this.history.note({ type: 'recurrenceAnswer', call, outcome: 'refused', isUnknown: true });
        return 'refused';
      }
      const known = error instanceof QueueUnavailableError;
      const outcome = known ? error.outcome : 'unknown';
      this.history.note({ type: 'recurrenceAnswer', call, outcome });
      if (!known || error.redisCode === 'ERR')
        this.history.note({
          type: 'trouble',
          message: `${operation} of ${recurrence} threw ${(error as Error).stack}`,
        });
      return outcome;
    }
  }
}

function refOf(recurrence: string) {
  return { id: recurrence, queue: RECURRENCES[recurrence]!.queue };
}

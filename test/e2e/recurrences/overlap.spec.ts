import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type RecurrenceRule, ScheduledJob, type ScheduledQueueEvent } from '../../../lib/index.js';
import { Occurrences } from '../../support/occurrences.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const EVERY_MS = 300;

afterEach(stopApps);

async function start(rule: Partial<RecurrenceRule>) {
  const app = await startApp([Occurrences]);
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const leftOut = (reason: string) =>
    events.flatMap((event) => (event.type === 'discarded' && event.reason === reason ? [event.id] : []));
  await app.producer.upsertRecurrence('slow', 'slow', null, { everyMs: EVERY_MS, ...rule } as RecurrenceRule);
  const handlers = app.get(Occurrences);
  await until('the first runs', () => handlers.running === 1);
  return { ...app, handlers, leftOut };
}

it("with overlap 'allow' occurrences run beside each other", async () => {
  const { handlers } = await start({});
  await until('three run', () => handlers.running === 3);
  handlers.release();
});

describe("with overlap 'skip'", () => {
  it('occurrences are left out until the previous one has ended, and then it goes on', async () => {
    const { handlers, leftOut, inspector } = await start({ overlap: 'skip' });
    const [first] = handlers.instants;
    await until('three are left out', () => leftOut('overlap').length >= 3);
    expect(handlers.seen).toHaveLength(1);
    expect(leftOut('overlap').slice(0, 3)).toEqual([1, 2, 3].map((i) => `slow@${first! + i * EVERY_MS}`));
    expect((await inspector.stats()).discarded).toBeGreaterThanOrEqual(3);
    handlers.release();
    await until('the next runs', () => handlers.running === 1);
    expect(handlers.seen[1]!.recurrence).toMatchObject({ missed: false });
    handlers.release();
  });

  it('a run beside the rule holds nothing up', async () => {
    const app = await startApp([Occurrences]);
    const handlers = app.get(Occurrences);
    await app.producer.upsertRecurrence('slow', 'slow', null, {
      everyMs: EVERY_MS,
      overlap: 'skip',
      startAt: Date.now() + 600,
    });
    await app.producer.runRecurrenceNow('slow');
    await until('both run', () => handlers.running === 2);
    handlers.release();
  });
});

describe("with overlap 'queue'", () => {
  it('one occurrence waits, the latest, and begins when the previous one has ended', async () => {
    const { handlers, leftOut } = await start({ overlap: 'queue' });
    await until('two are left out', () => leftOut('overlap').length >= 2);
    expect(handlers.seen).toHaveLength(1);
    const before = leftOut('overlap').length;
    handlers.release();
    await until('the one that waits runs', () => handlers.running === 1);
    const [first, second] = handlers.instants;
    expect((second! - first!) / EVERY_MS).toBeGreaterThan(before);
    expect(handlers.seen[1]!.recurrence).toMatchObject({ missed: false });
    handlers.release();
  });

  it('explain says what it waits for', async () => {
    const { handlers, inspector, producer } = await start({ overlap: 'queue', limit: 2 });
    const [first] = handlers.seen;
    const waits = await until('the second waits for its end', async () => {
      const { nextAt } = (await producer.recurrence('slow'))!;
      const id = `slow@${nextAt?.getTime()}`;
      const explanation = await inspector.explain(id);
      return explanation.code === 'overlap' && { id, explanation };
    });
    expect(waits.explanation.message).toContain(
      `Job 'slow' (${waits.id}) of queue 'default' waits for the previous occurrence, job '${first!.id}'`,
    );
    handlers.release();
    await until('it runs', () => handlers.running === 1);
    handlers.release();
  });
});

@Injectable()
class Failing {
  readonly runs: [id: string, attempt: number][] = [];

  @OnScheduledJob('failing', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1_500 } })
  fail(_payload: unknown, { id, attempt }: ScheduledJob): void {
    this.runs.push([id, attempt]);
    throw new Error('as it should');
  }
}

it('a previous one that waits for its retry has not ended; one that is dead has', async () => {
  const { producer, get } = await startApp([Failing]);
  await producer.upsertRecurrence('failing', 'failing', null, { everyMs: EVERY_MS, overlap: 'skip' });
  const { runs } = get(Failing);
  await until('the second occurrence begins', () => new Set(runs.map(([id]) => id)).size === 2);
  const [first] = runs;
  expect(runs.slice(0, 2)).toEqual([first, [first![0], 2]]);
});

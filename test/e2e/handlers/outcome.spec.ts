import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  InvalidScheduleError,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  type ScheduledQueueEvent,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  readonly attempts: number[] = [];

  @OnScheduledJob('snooze')
  snooze(times: number, { attempt }: ScheduledJob): JobOutcome | undefined {
    this.attempts.push(attempt);
    return this.attempts.length <= times ? JobOutcome.snooze(20) : undefined;
  }

  @OnScheduledJob('snooze-until')
  snoozeUntil(at: string): JobOutcome {
    return JobOutcome.snooze({ at });
  }

  @OnScheduledJob('discard')
  async discard(): Promise<JobOutcome> {
    return JobOutcome.discard('nobody is interested');
  }

  @OnScheduledJob('dead-letter')
  deadLetter(): JobOutcome {
    return JobOutcome.deadLetter('a person must look at it');
  }

  @OnScheduledJob('unrecoverable')
  unrecoverable(): void {
    throw new UnrecoverableJobError('the account is closed');
  }

  @OnScheduledJob('thrown-outcome')
  thrownOutcome(): void {
    throw JobOutcome.discard('nobody is interested');
  }

  @OnScheduledJob('returned-error')
  async returnedError(): Promise<Error> {
    return new UnrecoverableJobError('the account is closed');
  }
}

afterEach(stopApps);

async function start() {
  const app = await startApp([Handlers]);
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  return { ...app, events };
}

describe('a handler', () => {
  it('may snooze its job as often as it likes, without using an attempt', async () => {
    const { producer, inspector, events, get } = await start();
    await producer.schedule('snooze', 8, { maxAttempts: 2 });
    await until('it completes', () => events.some(({ type }) => type === 'completed'));
    expect(get(Handlers).attempts).toEqual(Array.from({ length: 9 }, () => 1));
    expect(await inspector.stats()).toMatchObject({ started: 9, snoozed: 8, completed: 1, failed: 0, retried: 0 });
    expect(events.filter(({ type }) => type === 'snoozed')).toHaveLength(8);
  });

  it('may snooze its job until an instant', async () => {
    const { producer, inspector } = await start();
    const at = new Date(Date.now() + 3_600_000);
    const ref = await producer.schedule('snooze-until', at.toISOString());
    await until('it is snoozed', async () => (await inspector.stats()).snoozed === 1);
    expect(await inspector.job(ref)).toMatchObject({ state: 'scheduled', dueAt: at, attempts: 0, failures: [] });
  });

  it('may discard its job: nothing of it is left, and its id is remembered', async () => {
    const { producer, inspector, events } = await start();
    const ref = await producer.schedule('discard', null, { id: 'mine' });
    await until('it is told', () => events.some(({ type }) => type === 'discarded'));
    expect(events.at(-1)).toMatchObject({ type: 'discarded', id: 'mine', reason: 'nobody is interested' });
    expect(await inspector.job(ref)).toBeNull();
    expect(await inspector.stats()).toMatchObject({ discarded: 1, completed: 0, dead: 0 });
    expect(await producer.schedule('discard', null, { id: 'mine' })).toMatchObject({ created: false });
  });

  it.each([
    ['dead-letter', 'dead-lettered', 'a person must look at it', 0],
    ['unrecoverable', 'unrecoverable', 'the account is closed', 1],
  ])('may send its job to the dead-letter set at once: %s', async (name, reason, message, failed) => {
    const { producer, inspector } = await start();
    const ref = await producer.schedule(name, null);
    await until('it is dead', async () => (await inspector.counts()).dead === 1);
    expect(await inspector.job(ref)).toMatchObject({ state: 'dead', reason, attempts: 1, failures: [{ message }] });
    expect(await inspector.stats()).toMatchObject({ dead: 1, failed, retried: 0 });
  });
});

it('an outcome that is thrown fails the attempt, and its failure says to return it', async () => {
  const { producer, inspector, events } = await start();
  const ref = await producer.schedule('thrown-outcome', null, { maxAttempts: 1 });
  await until('it is dead', () => events.some(({ type }) => type === 'dead'));
  const message = 'A JobOutcome was thrown, so the attempt has failed. Return it instead: return JobOutcome.snooze(…)';
  expect(await inspector.job(ref)).toMatchObject({ reason: 'attempts-exhausted', failures: [{ message }] });
});

it('an error that is returned completes the job, with a warning once for each job name', async () => {
  const log = new LogLines();
  const { producer, inspector } = await startApp([Handlers], {}, { log });
  const { id } = await producer.schedule('returned-error', null);
  await until('it has completed', async () => (await inspector.stats()).completed === 1);
  await producer.schedule('returned-error', null);
  await until('the second has completed', async () => (await inspector.stats()).completed === 2);
  const warned = () => log.lines.filter((line) => line.includes('returned an error'));
  await until('it is told', () => warned().length > 0);
  expect(warned()).toEqual([
    expect.stringMatching(
      new RegExp(
        `^warn Job 'returned-error' \\(${id}\\) of queue 'default' completed, but its handler returned an error: UnrecoverableJobError: the account is closed .*If the attempt has failed, throw it instead`,
      ),
    ),
  ]);
});

it.each([-1, 'soon', { at: 'tomorrow' }, { at: undefined }, undefined, { at: 5 }])(
  'snoozing until %p is refused',
  (until) => {
    expect(() => JobOutcome.snooze(until as never)).toThrow(InvalidScheduleError);
    expect(() => JobOutcome.snooze(until as never)).toThrow('JobOutcome.snooze: ');
  },
);

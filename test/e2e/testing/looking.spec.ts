import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { defineScheduledJob, JobOutcome, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { createScheduledJob, ScheduledQueueTester } from '../../../lib/testing/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// What the tester answers, and what its failures say.

const at = (ms: number) => new Date(START + ms);
const HOUR = 3_600_000;
const mail = defineScheduledJob<{ to: string; when?: Date; list?: number[] }>('mail', { maxAttempts: 2 });

afterEach(stopTestedApps);

class Order {
  @IsInt() id!: number;
}
const order = defineScheduledJob('order', { payload: Order });

@Injectable()
class Handlers {
  constructor(readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob(mail)
  async mail({ to }: { to: string }, job: ScheduledJob) {
    if (to === 'fail') throw new Error('no');
    if (to === 'discard') return JobOutcome.discard('nobody there');
    if (to === 'snooze') return JobOutcome.snooze('5m');
    if (to === 'sleep') await this.tester.sleep('10m');
    return `${to} ${job.attempt} ${job.dueAt.toISOString()}`;
  }

  @OnScheduledJob(order)
  order(payload: Order) {
    return payload instanceof Order;
  }
}

describe('scheduled', () => {
  it('answers at once which jobs wait, by due time, or those of one name', async () => {
    const { tester, producer } = await testedApp();
    await producer.schedule(mail, { to: 'b' }, { delay: '2h', id: 'b', tags: ['x'] });
    await producer.schedule('other', 7, { delay: '1h', id: 'a', queue: 'q' });
    expect(tester.scheduled()).toMatchObject([
      { name: 'other', id: 'a', queue: 'q', payload: 7, dueAt: at(HOUR), attempts: 0 },
      { name: 'mail', id: 'b', queue: 'default', payload: { to: 'b' }, dueAt: at(2 * HOUR), tags: ['x'] },
    ]);
    expect(tester.scheduled(mail).map(({ id }) => id)).toEqual(['b']);
    expect(tester.scheduled('other').map(({ id }) => id)).toEqual(['a']);
  });
});

describe('expectScheduled', () => {
  it('finds a job by a part of its payload, its time, and how far off that may be', async () => {
    const { tester, producer } = await testedApp();
    await producer.schedule(mail, { to: 'ada', when: at(0), list: [1, 2] }, { delay: '1h', id: 'a' });
    expect(tester.expectScheduled(mail).id).toBe('a');
    tester.expectScheduled('mail', { payload: { to: 'ada' } });
    tester.expectScheduled(mail, { payload: { when: at(0), list: [1, expect.any(Number)] }, at: at(HOUR) });
    tester.expectScheduled(mail, { at: at(HOUR + 5_000), within: '5s' });
    tester.expectScheduled(mail, { within: '1h' });
    for (const wrong of [
      { payload: { to: 'bob' } },
      { payload: { list: [1] } },
      { at: at(HOUR + 1) },
      { at: at(HOUR + 5_001), within: 5_000 },
      { within: HOUR - 1 },
    ]) {
      expect(() => tester.expectScheduled(mail, wrong)).toThrow('Expected job');
      tester.expectNotScheduled(mail, wrong);
    }
  });

  it('prints what is scheduled instead, and how it differs', async () => {
    const { tester, producer } = await testedApp();
    await producer.schedule(mail, { to: 'bob' }, { delay: '26h', id: 'b' });
    await producer.schedule('other', 7, { delay: '1h', id: 'a' });
    expect(() => tester.expectScheduled(mail, { payload: { to: 'ada' }, at: at(HOUR) })).toThrow(
      [
        `Expected job 'mail' to be scheduled, due 2027-01-01T10:00:00.000Z, with payload {"to":"ada"}. Scheduled instead:`,
        `  - 'mail' (b) of queue 'default', due 2027-01-02T11:00:00.000Z (in 1 d 2 h), payload {"to":"bob"}`,
        `      due: got 2027-01-02T11:00:00.000Z, expected 2027-01-01T10:00:00.000Z: 1 d 1 h later than expected`,
        `      payload.to: got "bob", expected "ada"`,
        `  - 'other' (a) of queue 'default', due 2027-01-01T10:00:00.000Z (in 1 h), payload 7: another job`,
      ].join('\n'),
    );
  });

  it('tells what has run, where nothing is scheduled', async () => {
    const { tester, producer } = await testedApp([Handlers]);
    expect(() => tester.expectScheduled(mail)).toThrow('Nothing is scheduled. Nothing has run either.');
    await producer.schedule(mail, { to: 'ada' }, { id: 'a' });
    await tester.drain();
    expect(() => tester.expectScheduled(mail)).toThrow(
      "Nothing is scheduled. Its last runs were:\n  - 'mail' (a) of queue 'default', attempt 1, at 2027-01-01T09:00:00.000Z: completed",
    );
  });

  it('tells what has run, where only other jobs wait', async () => {
    const { tester, producer } = await testedApp([Handlers]);
    await producer.schedule(mail, { to: 'ada' }, { id: 'a' });
    await producer.schedule('other', 7, { delay: '1h', id: 'o' });
    await tester.drain();
    expect(() => tester.expectScheduled(mail)).toThrow(
      "payload 7: another job\nIts last runs were:\n  - 'mail' (a) of queue 'default', attempt 1, at 2027-01-01T09:00:00.000Z: completed",
    );
  });

  it('tells that a payload cannot be read at once', async () => {
    const codec = { id: 'slow', encode: JSON.stringify, decode: async (text: unknown) => JSON.parse(text as string) };
    const { tester, producer, inspector } = await testedApp([Handlers], { codec });
    expect((await inspector.workers()).map(({ options }) => options.codec)).toEqual(['slow']);
    await producer.schedule(mail, { to: 'ada' }, { delay: '1h' });
    expect(tester.expectScheduled(mail).payload).toBeUndefined();
    expect(() => tester.expectScheduled(mail, { payload: { to: 'ada' } })).toThrow(
      'payload: cannot be read at once, because its codec answers a promise',
    );
  });

  it('refuses a misspelt expectation', async () => {
    const { tester } = await testedApp();
    expect(() => tester.expectScheduled(mail, { payloads: {} } as never)).toThrow(
      'unknown option "payloads", did you mean \'payload\'?',
    );
  });
});

it('expectNotScheduled and expectNothingScheduled print what is', async () => {
  const { tester, producer } = await testedApp();
  tester.expectNothingScheduled();
  tester.expectNotScheduled(mail);
  await producer.schedule(mail, { to: 'ada' }, { delay: '1h', id: 'a' });
  const line = `\n  - 'mail' (a) of queue 'default', due 2027-01-01T10:00:00.000Z (in 1 h), payload {"to":"ada"}`;
  expect(() => tester.expectNothingScheduled()).toThrow(`Expected nothing to be scheduled. Scheduled:${line}`);
  expect(() => tester.expectNotScheduled(mail, { within: '2h' })).toThrow(
    `Expected no job 'mail' to be scheduled, due by 2027-01-01T11:00:00.000Z. Scheduled:${line}`,
  );
});

describe('run', () => {
  it('calls one handler with one crafted job, and answers how it ended', async () => {
    const { tester, inspector } = await testedApp([Handlers]);
    expect(await tester.run(mail, { to: 'ada' }, { attempt: 2, dueAt: at(-HOUR) })).toEqual({
      outcome: 'completed',
      result: `ada 2 ${at(-HOUR).toISOString()}`,
    });
    expect(await tester.run(mail, { to: 'fail' })).toMatchObject({
      outcome: 'failed',
      error: { message: 'no' },
      retryAt: at(60_000),
    });
    expect(await tester.run(mail, { to: 'fail' }, { attempt: 2 })).toMatchObject({
      outcome: 'dead',
      reason: 'attempts-exhausted',
    });
    expect(await tester.run(mail, { to: 'discard' })).toEqual({ outcome: 'discarded', error: 'nobody there' });
    expect(await tester.run(mail, { to: 'snooze' })).toEqual({ outcome: 'snoozed', retryAt: at(300_000) });
    expect(await inspector.stats()).toMatchObject({ scheduled: 0, started: 0 });
    tester.expectNothingScheduled();
  });

  it('checks the payload as schedule does, and hands out an instance of its class', async () => {
    const { tester } = await testedApp([Handlers]);
    expect(await tester.run(order, { id: 7 })).toEqual({ outcome: 'completed', result: true });
    await expect(tester.run(order, { id: 'x' as never })).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
  });

  it('lets time go on while the handler sleeps', async () => {
    const { tester } = await testedApp([Handlers]);
    expect(await tester.run(mail, { to: 'sleep' })).toMatchObject({ outcome: 'completed' });
    expect(tester.now()).toEqual(at(600_000));
  });

  it('says where no handler has the job', async () => {
    const { tester } = await testedApp([Handlers]);
    await expect(tester.run('nobody', null as never)).rejects.toThrow(
      "run: no handler of this application has job 'nobody' of queue 'default'. Is its provider in the module under test?",
    );
  });
});

describe('waitFor', () => {
  it('remembers every end, and moves no time', async () => {
    const { tester, producer, inspector } = await testedApp([Handlers]);
    const done = await producer.schedule(mail, { to: 'ada' });
    const gone = await producer.schedule(mail, { to: 'discard' });
    const late = await producer.schedule(mail, { to: 'late' }, { delay: '1h' });
    const cancelled = await producer.schedule(mail, { to: 'x' }, { tags: ['t'], delay: '1h' });
    await tester.drain();
    await inspector.cancelTagged('t');
    await tester.waitFor(done, 'completed');
    await tester.waitFor(gone.id, 'discarded');
    await tester.waitFor(late, 'scheduled');
    await tester.waitFor(cancelled, 'cancelled');
    const waiting = tester.waitFor(late, 'completed');
    expect(tester.now()).toEqual(at(0));
    await tester.advance('1h');
    await waiting;
  });

  it('rejects where the job ended otherwise, or is not known', async () => {
    const { tester, producer } = await testedApp([Handlers]);
    const job = await producer.schedule(mail, { to: 'fail' }, { id: 'f' });
    const waiting = tester.waitFor(job, 'completed');
    waiting.catch(() => {});
    await tester.advance('10m');
    await expect(waiting).rejects.toThrow(
      "waitFor: job 'f' of queue 'default', which has ended as 'dead', will not be 'completed' any more.",
    );
    await expect(tester.waitFor('nobody', 'dead')).rejects.toThrow("no job 'nobody' is known in queue 'default'");
  });
});

it('createScheduledJob makes a job for the unit test of a handler, with no module', async () => {
  const seen: unknown[] = [];
  const job = createScheduledJob(
    mail,
    { to: 'ada' },
    { attempt: 3, headers: { a: 'b' }, progress: (value) => seen.push(value) },
  );
  expect(job).toMatchObject({ name: 'mail', queue: 'default', payload: { to: 'ada' }, attempt: 3, maxAttempts: 2 });
  expect(job).toMatchObject({ priority: 5, latenessMs: 0, headers: { a: 'b' }, recurrence: undefined });
  expect(job.signal.aborted).toBe(false);
  job.progress(0.5);
  await job.heartbeat();
  expect(seen).toEqual([0.5]);
  const aborted = createScheduledJob('x', null as never, { signal: AbortSignal.abort(new Error('over')) });
  await expect(aborted.heartbeat()).rejects.toThrow('over');
});

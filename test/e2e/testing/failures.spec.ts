import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

// What a failed expectation prints, whole: a newcomer should see at a glance what is wrong.

const at = (ms: number) => new Date(START + ms);
const HOUR = 3_600_000;
const mail = defineScheduledJob<{ to: string; cc?: string[] }>('mail');
const bulk = defineScheduledJob<{ to: string }>('mail', { queue: 'bulk' });

afterEach(stopTestedApps);
afterEach(() => void jest.restoreAllMocks());

@Injectable()
class Mails {
  @OnScheduledJob(mail)
  send(_payload: { to: string }, _job: ScheduledJob) {}
}

/** What is thrown. */
function failure(of: () => unknown): string {
  try {
    of();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
}

it('a wrong part of the payload', async () => {
  const { tester, producer } = await testedApp();
  await producer.schedule(mail, { to: 'bob', cc: ['eve', 'mallory'] }, { delay: '1h', id: 'b' });
  expect(failure(() => tester.expectScheduled(mail, { payload: { to: 'ada', cc: ['eve', 'trent'] } }))).toBe(
    [
      `Expected job 'mail' to be scheduled, with payload {"to":"ada","cc":["eve","trent"]}. Scheduled instead:`,
      `  - 'mail' (b) of queue 'default', due 2027-01-01T10:00:00.000Z (in 1 h), payload {"to":"bob","cc":["eve","mallory"]}`,
      `      payload.to: got "bob", expected "ada"`,
      `      payload.cc[1]: got "mallory", expected "trent"`,
    ].join('\n'),
  );
});

it('a time that is off by the time zone of the machine', async () => {
  const { tester, producer } = await testedApp();
  jest.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-330);
  await producer.schedule(mail, { to: 'ada' }, { at: '2027-01-02T09:00:00+05:30', id: 'a' });
  expect(failure(() => tester.expectScheduled(mail, { at: '2027-01-02T09:00:00Z' }))).toBe(
    [
      `Expected job 'mail' to be scheduled, due 2027-01-02T09:00:00.000Z. Scheduled instead:`,
      `  - 'mail' (a) of queue 'default', due 2027-01-02T03:30:00.000Z (in 18 h 30 min), payload {"to":"ada"}`,
      `      due: got 2027-01-02T03:30:00.000Z, expected 2027-01-02T09:00:00.000Z: 5 h 30 min earlier than expected, the offset of this machine's time zone from UTC. Is one of the two a local time?`,
    ].join('\n'),
  );
  expect(failure(() => tester.expectScheduled(mail, { at: '2027-01-02T09:00:01Z' }))).not.toContain('time zone');
});

it('a job that is due too late, after one that nearly fits', async () => {
  const { tester, producer } = await testedApp();
  await producer.schedule(mail, { to: 'eve' }, { delay: '3h', id: 'e' });
  await producer.schedule(mail, { to: 'ada' }, { delay: '26h', id: 'a' });
  expect(failure(() => tester.expectScheduled(mail, { payload: { to: 'ada' }, within: '2h' }))).toBe(
    [
      `Expected job 'mail' to be scheduled, due by 2027-01-01T11:00:00.000Z, with payload {"to":"ada"}. Scheduled instead:`,
      `  - 'mail' (a) of queue 'default', due 2027-01-02T11:00:00.000Z (in 1 d 2 h), payload {"to":"ada"}`,
      `      due: got 2027-01-02T11:00:00.000Z, expected no later than 2027-01-01T11:00:00.000Z: 1 d later than expected`,
      `  - 'mail' (e) of queue 'default', due 2027-01-01T12:00:00.000Z (in 3 h), payload {"to":"eve"}`,
      `      due: got 2027-01-01T12:00:00.000Z, expected no later than 2027-01-01T11:00:00.000Z: 1 h later than expected`,
      `      payload.to: got "eve", expected "ada"`,
    ].join('\n'),
  );
});

it('another queue than that of the definition', async () => {
  const { tester, producer } = await testedApp();
  await producer.schedule(mail, { to: 'ada' }, { delay: '1h', id: 'a' });
  expect(failure(() => tester.expectScheduled(bulk, { payload: { to: 'ada' } }))).toBe(
    [
      `Expected job 'mail' of queue 'bulk' to be scheduled, with payload {"to":"ada"}. Scheduled instead:`,
      `  - 'mail' (a) of queue 'default', due 2027-01-01T10:00:00.000Z (in 1 h), payload {"to":"ada"}`,
      `      queue: got 'default', expected 'bulk', which the definition names`,
    ].join('\n'),
  );
});

it('a job that was cancelled', async () => {
  const { tester, producer } = await testedApp();
  const job = await producer.schedule(mail, { to: 'ada' }, { delay: '1h', id: 'a' });
  await producer.schedule('other', null, { delay: '2h', id: 'o' });
  await producer.cancel(job);
  await producer.cancel(await producer.schedule(bulk, { to: 'ada' }, { id: 'b' }));
  const gone = `Gone without a run:\n  - 'mail' (b) of queue 'bulk': cancelled`;
  expect(failure(() => tester.expectScheduled(bulk))).toContain(gone);
  expect(failure(() => tester.expectScheduled(mail))).toBe(
    [
      `Expected job 'mail' to be scheduled. Scheduled instead:`,
      `  - 'other' (o) of queue 'default', due 2027-01-01T11:00:00.000Z (in 2 h), payload null: another job`,
      `Gone without a run:`,
      `  - 'mail' (a) of queue 'default': cancelled`,
      `  - 'mail' (b) of queue 'bulk': cancelled`,
    ].join('\n'),
  );
  await producer.cancel('o');
  expect(failure(() => tester.expectScheduled('other'))).toBe(
    `Expected job 'other' to be scheduled. Nothing is scheduled. Gone without a run:\n  - 'other' (o) of queue 'default': cancelled`,
  );
});

it('a job that was cancelled after a run is told with its run, also where a job of another queue has its id', async () => {
  const { tester, producer } = await testedApp([Mails]);
  await producer.cancel(await producer.schedule(bulk, { to: 'ada' }, { id: 'a', delay: '1h' }));
  tester.failNext(mail, new Error('no'));
  const job = await producer.schedule(mail, { to: 'ada' }, { id: 'a' });
  await tester.drain();
  await producer.cancel(job);
  expect(failure(() => tester.expectScheduled(mail))).toBe(
    [
      `Expected job 'mail' to be scheduled. Nothing is scheduled. Gone without a run:`,
      `  - 'mail' (a) of queue 'bulk': cancelled`,
      `Its last runs were:`,
      `  - 'mail' (a) of queue 'default', attempt 1, at 2027-01-01T09:00:00.000Z: failed`,
    ].join('\n'),
  );
});

it('a job that is due now, beside a time with a tolerance', async () => {
  const { tester, producer } = await testedApp();
  await producer.schedule(mail, { to: 'ada' }, { id: 'a' });
  expect(failure(() => tester.expectScheduled(mail, { at: at(HOUR), within: '90s' }))).toBe(
    [
      `Expected job 'mail' to be scheduled, due 2027-01-01T10:00:00.000Z, give or take 1 min 30 s. Scheduled instead:`,
      `  - 'mail' (a) of queue 'default', due 2027-01-01T09:00:00.000Z (due now), payload {"to":"ada"}`,
      `      due: got 2027-01-01T09:00:00.000Z, expected 2027-01-01T10:00:00.000Z: 1 h earlier than expected`,
    ].join('\n'),
  );
});

it('of many jobs the first ten that wait, the last five that are gone, and the last five runs', async () => {
  const { tester, producer } = await testedApp([Mails]);
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1);
  for (const n of numbers(7)) {
    await producer.schedule(mail, { to: 'ada' }, { id: `run-${n}` });
    await tester.drain();
  }
  for (const n of numbers(7)) await producer.cancel(await producer.schedule(mail, { to: 'ada' }, { id: `gone-${n}` }));
  expect(failure(() => tester.expectScheduled(mail)).match(/(run|gone)-\d/g)).toEqual(
    ['gone', 'run'].flatMap((of) => [3, 4, 5, 6, 7].map((n) => `${of}-${n}`)),
  );

  for (const n of numbers(12)) await producer.schedule(mail, { to: 'ada' }, { id: `waits-${n}`, delay: n });
  // Where such jobs wait, what is past would only distract.
  const [title, ...lines] = failure(() => tester.expectScheduled(mail, { payload: { to: 'eve' } })).split('\n');
  expect(title).toContain('Scheduled instead:');
  expect(lines.filter((line) => line.startsWith('  - ')).map((line) => /waits-\d+/.exec(line)?.[0])).toEqual(
    numbers(10).map((n) => `waits-${n}`),
  );
  expect(lines.at(-1)).toBe('      payload.to: got "ada", expected "eve" and 2 more');
});

it('an occurrence of a recurrence is told as such, and can be told apart', async () => {
  const { tester } = await testedApp([Digests]);
  expect(failure(() => tester.expectNothingScheduled())).toBe(
    [
      'Expected nothing to be scheduled. Scheduled:',
      `  - 'digest' (digest@${at(9 * HOUR).getTime()}) of queue 'default', occurrence of recurrence 'digest', due 2027-01-01T18:00:00.000Z (in 9 h), payload undefined`,
    ].join('\n'),
  );
  expect(tester.scheduled().filter(({ recurrence }) => recurrence?.id !== 'digest')).toEqual([]);
});

describe('a job that has run already', () => {
  it('is told with its outcome, however many other jobs have run since', async () => {
    const { tester, producer } = await testedApp([Mails, Others]);
    await producer.schedule(mail, { to: 'ada' }, { id: 'a' });
    await tester.drain();
    for (let n = 0; n < 6; n++) await producer.schedule('other', null);
    await tester.advance('2h');
    expect(failure(() => tester.expectScheduled(mail, { at: at(HOUR) }))).toBe(
      [
        `Expected job 'mail' to be scheduled, due 2027-01-01T10:00:00.000Z. Nothing is scheduled. Its last runs were:`,
        `  - 'mail' (a) of queue 'default', attempt 1, at 2027-01-01T09:00:00.000Z: completed`,
      ].join('\n'),
    );
  });

  it('and where only others have, those are told', async () => {
    const { tester, producer } = await testedApp([Others]);
    await producer.schedule('other', null, { id: 'o' });
    await tester.drain();
    expect(failure(() => tester.expectScheduled(mail))).toBe(
      [
        `Expected job 'mail' to be scheduled. Nothing is scheduled. The last runs were:`,
        `  - 'other' (o) of queue 'default', attempt 1, at 2027-01-01T09:00:00.000Z: completed`,
      ].join('\n'),
    );
  });
});

@Injectable()
class Others {
  @OnScheduledJob('other')
  other() {}
}

@Injectable()
class Digests {
  @OnScheduledJob('digest', { cron: '0 18 * * *', timeZone: 'UTC' })
  digest() {}
}

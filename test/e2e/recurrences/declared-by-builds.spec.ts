import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisScheduledQueueModuleOptions } from '../../../lib/index.js';
import { STORE } from '../../../lib/nest/tokens.js';
import type { JobStore, QueueRecurrences } from '../../../lib/store/job-store.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, stopApps } from '../../support/queue-app.js';
import { type Build, instantsOf, startBuild } from '../../support/recurring-apps.js';
import { until } from '../../support/wait.js';

// Builds of one application that declare different things under one id, and run side by side.

const NIGHTLY = { cron: '0 3 * * *', recurrencePayload: 'old' };
const LATER = { cron: '0 4 * * *', recurrencePayload: 'new' };

let options: RedisScheduledQueueModuleOptions;
let log: LogLines;

beforeEach(() => {
  // So short that a declaration takes over within the time of a test, and live processes declare every 400 ms.
  options = { prefix: newPrefix(), orphanAfterMs: 2_000 };
  log = new LogLines();
});
afterEach(stopApps);

/** The hour for which the recurrence is armed, in UTC. */
async function hourOf({ app }: Build): Promise<number | undefined> {
  const [job, ...others] = await app.inspector.list('scheduled');
  expect(others).toEqual([]);
  return job?.dueAt.getUTCHours();
}

const isArmedFor = (hour: number, build: Build) =>
  until(`it is armed for ${hour}`, async () => (await hourOf(build)) === hour);

function recurrencesOf({ app }: Build): QueueRecurrences {
  return app.app.get<JobStore>(STORE, { strict: false }).queue('default').recurrences;
}

/** Resolves once this build has declared several times more. */
async function someCallsLater({ app }: Build): Promise<void> {
  const from = performance.now();
  await until('several calls have been made', () => performance.now() > from + 1_500);
  await app.inspector.counts();
}

describe('of two builds that run side by side', () => {
  it('the one with the higher revision wins, also where it started first', async () => {
    const newer = await startBuild('new', LATER, { ...options, revision: 8 });
    await isArmedFor(4, newer);
    await startBuild('old', NIGHTLY, { ...options, revision: 7 }, log);
    await until('the old one has been told', () => log.lines.length > 0);
    await someCallsLater(newer);
    expect(await hourOf(newer)).toBe(4);
    expect(log.lines).toEqual([
      `log Recurrence 'tick' of queue 'default': the declaration by Handlers.tick (RootTestModule) gives way to that of another process, which has a higher revision or started later.`,
    ]);
  });

  it('one with a revision wins over one without', async () => {
    const newer = await startBuild('new', LATER, { ...options, revision: 0 });
    await isArmedFor(4, newer);
    await startBuild('old', NIGHTLY, options, log);
    await until('the old one has been told', () => log.lines.length > 0);
    expect(await hourOf(newer)).toBe(4);
  });

  it('without revisions the one that started last wins, and goes on winning', async () => {
    const first = await startBuild('old', NIGHTLY, options, log);
    await isArmedFor(3, first);
    await startBuild('new', LATER, options, log);
    await isArmedFor(4, first);
    await someCallsLater(first);
    expect(await hourOf(first)).toBe(4);
    expect(log.lines).toHaveLength(1);
  });

  it('a further process of a build counts as its latest start', async () => {
    const first = await startBuild('old', NIGHTLY, options);
    await isArmedFor(3, first);
    await startBuild('new', LATER, options);
    await isArmedFor(4, first);
    await startBuild('old', NIGHTLY, options);
    await isArmedFor(3, first);
    // The first process of the old build does not lose it again: its rule was declared last.
    await someCallsLater(first);
    expect(await hourOf(first)).toBe(3);
  });

  it('the loser takes over once no process declares the winner any more, and says so', async () => {
    const newer = await startBuild('new', LATER, { ...options, revision: 8 });
    await isArmedFor(4, newer);
    const older = await startBuild('old', NIGHTLY, { ...options, revision: 7 }, log);
    await until('the old one has been told', () => log.lines.length > 0);
    await newer.app.app.close();
    await isArmedFor(3, older);
    await until('that is told', () => log.lines.length > 1);
    expect(log.lines[1]).toContain('holds from now on');
  });
});

describe('during a deploy', () => {
  it('each instant has one job while two builds run side by side, and none is left out', async () => {
    // A process that starts is busy for longer than an instant: what it misses meanwhile is made up for.
    const rule = { everyMs: 200, onMissed: 'all' } as const;
    const old = await startBuild('old', { ...rule, recurrencePayload: 'old' }, { ...options, revision: 1 });
    await until('it has run', () => old.runs.length >= 3);
    const next = await startBuild('new', { ...rule, recurrencePayload: 'new' }, { ...options, revision: 2 });
    await until('the new payload has come', () => [...old.runs, ...next.runs].some(({ payload }) => payload === 'new'));
    await until('both have run more', () => next.runs.length >= 3);
    await old.app.app.close();
    const count = next.runs.length;
    await until('the new one goes on alone', () => next.runs.length >= count + 5);
    const all = [...old.runs, ...next.runs];
    const instants = instantsOf(all);
    expect(instants.map((at) => at - instants[0]!)).toEqual(instants.map((_, i) => 200 * i));
    const payloads = all.sort((a, b) => a.id.localeCompare(b.id)).map(({ payload }) => payload);
    expect(payloads.lastIndexOf('old')).toBeLessThan(payloads.indexOf('new'));
  });

  it('a changed rule holds from the change on, and no instant runs twice', async () => {
    const old = await startBuild('old', { everyMs: 400, onMissed: 'all' }, { ...options, revision: 1 });
    await until('it has run', () => old.runs.length >= 2);
    const next = await startBuild('new', { everyMs: 200, onMissed: 'all' }, { ...options, revision: 2 });
    const all = () => instantsOf([...old.runs, ...next.runs]);
    await until('the new rule has run', () => all().filter((at) => at % 400 === 200).length >= 4);
    const instants = all();
    expect(new Set(instants).size).toBe(instants.length);
    const since = instants.slice(instants.findIndex((at) => at % 400 === 200));
    expect(since.map((at) => at - since[0]!)).toEqual(since.map((_, i) => 200 * i));
  });

  it('a pause survives it', async () => {
    const old = await startBuild('old', NIGHTLY, { ...options, revision: 1 });
    await isArmedFor(3, old);
    const recurrences = recurrencesOf(old);
    await recurrences.pause('tick', 'holidays');
    const next = await startBuild('new', LATER, { ...options, revision: 2 });
    await until('the new rule holds', async () => (await recurrences.get('tick'))?.rule.timing.cron === LATER.cron);
    expect(await recurrences.get('tick')).toMatchObject({ state: 'paused', reason: 'holidays' });
    expect(await hourOf(next)).toBeUndefined();
  });
});

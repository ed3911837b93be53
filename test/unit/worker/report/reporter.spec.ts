import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../../../lib/core/clock.js';
import { currentScheduledJob } from '../../../../lib/core/job/current-job.js';
import type { ScheduledQueueEvent } from '../../../../lib/core/job/events.js';
import { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';
import type { Envelope } from '../../../../lib/store/envelope.js';
import type {
  ClaimedJob,
  Settled,
  Settlement,
  SkippedOccurrence,
  TurnAnswer,
} from '../../../../lib/store/job-store.js';
import { Reporter } from '../../../../lib/worker/report/reporter.js';
import { NextSteps } from '../../../../lib/worker/run/next-steps.js';
import type { RunningJob } from '../../../../lib/worker/run/running-job.js';
import { type EndedRun, SettlementBuilder } from '../../../../lib/worker/run/settlement-builder.js';
import type { SentTurn } from '../../../../lib/worker/session/turns-in-flight.js';
import { ManualClock } from '../../../support/manual-clock.js';

const skippedOccurrences = (reason: SkippedOccurrence['reason'], ...ats: number[]): SkippedOccurrence[] =>
  ats.map((at) => ({ id: `digest@${at}`, name: 'digest', reason }));

describe('each line about one job is written while it is the current one', () => {
  const envelope = { name: 'work', settings: { headers: { trace: 't1' } } } as unknown as Envelope;
  const claim = {
    id: 'j1',
    fence: '7',
    dueAtMs: 1_000,
    claimedAtMs: 1_250,
    attempt: 2,
    crashes: 0,
    envelope,
  } as ClaimedJob;
  const run: RunningJob = Object.assign(Object.create(ScheduledJob.prototype), { ...claim, queue: 'q', name: 'work' });
  const limits = { maxAttempts: 3, timeoutMs: 0 };
  const builder = new SettlementBuilder({ get: () => undefined }, undefined, new NextSteps(new SystemClock(), 1_000));
  const spent = () => builder.attemptsUsedUp(claim, envelope, limits);

  const told = (trackCurrentJob: boolean, tell: (reporter: Reporter) => void) => {
    const lines: [line: string, current: ScheduledJob | undefined][] = [];
    const listenersSaw: unknown[] = [];
    const write = (line: string) => void lines.push([line, currentScheduledJob()]);
    const events = { wants: () => true, tell: () => void listenersSaw.push(currentScheduledJob()) };
    const options = { trackCurrentJob };
    tell(new Reporter({ log: write, warn: write, error: write }, events, new ManualClock(), options));
    expect(listenersSaw.filter((job) => job !== undefined)).toEqual([]);
    return lines;
  };
  const nothing = { recovered: [], late: [], brokenJobs: [], deadDropped: [], completions: [], skippedOccurrences: [] };
  const found = (part: Partial<TurnAnswer>) => (reporter: Reporter) =>
    reporter.found('q', { ...nothing, ...part } as unknown as TurnAnswer);
  const ended = (outcome: Partial<EndedRun>, settled: Settled) => (reporter: Reporter) => {
    const end = { job: claim, name: 'work', durationMs: 5, ...outcome } as EndedRun;
    reporter.settled('q', { turn: { settlements: [claim] }, ended: [end] } as unknown as SentTurn, [settled]);
  };
  const retry = { transition: 'retry', delayMs: 5 } as Settlement;
  const complete = { transition: 'complete' } as Settlement;
  const cancel = { transition: 'cancel' } as Settlement;

  it.each<[string, (reporter: Reporter) => void, Partial<ScheduledJob>]>([
    ['failed in attempt 2', ended({ run, settlement: retry, error: new Error('no') }, 'counted'), run],
    ['takes its place', ended({ run, settlement: retry, error: new Error('no') }, 'replaced'), run],
    ['so no attempt follows', ended({ run, settlement: retry, error: new Error('no') }, 'final'), run],
    [
      'its handler returned an error',
      ended({ run, settlement: complete, returnedError: new Error('no') }, 'counted'),
      run,
    ],
    ['was cancelled while it ran', ended({ run, settlement: cancel }, 'counted'), run],
    ['after its lease was lost', ended({ settlement: complete }, 'lost'), {}],
    ['was lost while it ran', (reporter) => reporter.leaseLost('q', run), run],
    ['was lost before its handler', (reporter) => reporter.leaseLostBefore('q', claim), { id: 'j1', name: 'work' }],
    ['is dead after attempt 1', ended(spent(), 'counted'), { attempt: 1, headers: { trace: 't1' }, latenessMs: 250 }],
    ['its result cannot be kept', ended({ settlement: complete, resultProblem: 'x' }, 'counted'), {}],
    ['the progress that it reports', (reporter) => reporter.progressNotKept(run, 'x'), run],
    [
      'is discarded',
      found({ late: [{ id: 'j1', name: 'work', attempt: 0, latenessMs: 9, onLate: 'discard' }] }),
      { attempt: 0, latenessMs: 9 },
    ],
    [
      'is dead after attempt 2 (crashed)',
      found({ recovered: [{ id: 'j1', name: 'work', attempt: 2, fate: 'crashed' }] }),
      {},
    ],
    [
      '(envelope-missing)',
      found({ brokenJobs: [{ id: 'j1', name: 'work', attempt: 2, reason: 'envelope-missing' }] }),
      {},
    ],
  ])('%s', (text, tell, known) => {
    const line = expect.stringContaining(text);
    const about = told(true, tell).filter(([each]) => each.includes(text));
    expect(about).toEqual([[line, expect.objectContaining({ queue: 'q', id: 'j1', name: 'work', ...known })]]);
    if (known === run) expect(about[0]![1]).toBe(run);
    expect(told(false, tell).filter(([each]) => each.includes(text))).toEqual([[line, undefined]]);
  });
});

it('occurrences that are left out are told one by one by events, and in the log by one line for each reason', () => {
  const lines: string[] = [];
  const events: ScheduledQueueEvent[] = [];
  const log = { log() {}, error() {}, warn: (line: string) => void lines.push(line) };
  const reporter = new Reporter(
    log,
    { wants: () => true, tell: (event) => void events.push(event) },
    new ManualClock(),
    { trackCurrentJob: false },
  );
  const found = { recovered: [], late: [], brokenJobs: [], deadDropped: [], completions: [] };
  const jobs = [...skippedOccurrences('missed', 1, 2, 3, 4, 5, 6), ...skippedOccurrences('overlap', 7)];
  reporter.found('q', { ...found, skippedOccurrences: jobs } as unknown as TurnAnswer);
  expect(lines).toEqual([
    "Left out 6 occurrences in queue 'q': too late to begin, and the onMissed of the recurrence makes up for no more: 'digest@1', 'digest@2', 'digest@3', 'digest@4', 'digest@5' and 1 more.",
    "Left out 1 occurrence in queue 'q': the previous occurrence had not ended, and the recurrence allows no overlap: 'digest@7'.",
  ]);
  expect(events).toHaveLength(7);
  expect(events[0]).toEqual({
    type: 'discarded',
    queue: 'q',
    id: 'digest@1',
    name: 'digest',
    attempt: 0,
    reason: 'missed',
  });
  expect(events[6]).toMatchObject({ id: 'digest@7', reason: 'overlap' });
});

it('a call whose jobs failed by one error is told in one line, its stack once, and each job by an event', () => {
  const lines: string[] = [];
  const stacks: unknown[] = [];
  const told: ScheduledQueueEvent[] = [];
  const write = (line: string, stack?: unknown) => {
    lines.push(line);
    stacks.push(stack);
  };
  const events = { wants: () => true, tell: (event: ScheduledQueueEvent) => void told.push(event) };
  const reporter = new Reporter({ log: write, warn: write, error: write }, events, new ManualClock(), {
    trackCurrentJob: false,
  });
  const call = { held: 0, failure: { jobs: 4 } };
  const settlements = ['a', 'b', 'c', 'd'].map((id, i) => {
    const transition = i < 2 ? 'retry' : 'dead';
    return { id, fence: '1', transition, delayMs: 5 } as Settlement;
  });
  const error = new Error('no');
  const ended = settlements.map((settlement) => {
    const job = { id: settlement.id, attempt: 1 } as ClaimedJob;
    return {
      job,
      name: 'work',
      settlement,
      durationMs: 5,
      error,
      backoffProblem: 'it is odd',
      run: job as never,
      call,
    } as EndedRun;
  });
  const settled = settlements.map(() => 'counted' as const);
  reporter.settled('q', { turn: { settlements }, ended } as unknown as SentTurn, settled);
  expect(lines).toEqual([
    expect.stringMatching(
      /^A call with 4 jobs 'work' of queue 'q' failed: Error: no.*; each of them that has an attempt left is tried again\.$/,
    ),
    expect.stringContaining('The backoff function'),
    expect.stringContaining('is dead'),
    expect.stringContaining('is dead'),
  ]);
  expect(stacks.map((stack) => stack !== undefined)).toEqual([false, false, true, false]);
  expect(told.map(({ type, id }) => [type, id])).toEqual([
    ['failed', 'a'],
    ['failed', 'b'],
    ['dead', 'c'],
    ['dead', 'd'],
  ]);
});

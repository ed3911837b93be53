import { expect, it } from '@jest/globals';
import type { ScheduledQueueEvent } from '../../../../lib/core/job/events.js';
import type { LeftOutJob, TurnAnswer } from '../../../../lib/store/job-store.js';
import { Reporter } from '../../../../lib/worker/session/reporter.js';
import { ManualClock } from '../../../support/manual-clock.js';

const leftOut = (reason: LeftOutJob['reason'], ...ats: number[]): LeftOutJob[] =>
  ats.map((at) => ({ id: `digest@${at}`, name: 'digest', reason }));

it('occurrences that are left out are told one by one by events, and in the log by one line for each reason', () => {
  const lines: string[] = [];
  const events: ScheduledQueueEvent[] = [];
  const log = { log() {}, error() {}, warn: (line: string) => void lines.push(line) };
  const reporter = new Reporter(
    log,
    { wants: () => true, tell: (event) => void events.push(event) },
    new ManualClock(),
  );
  const found = { recovered: [], late: [], missing: [], dropped: [] };
  const jobs = [...leftOut('missed', 1, 2, 3, 4, 5, 6), ...leftOut('overlap', 7)];
  reporter.found('q', { ...found, leftOut: jobs } as unknown as TurnAnswer);
  expect(lines).toEqual([
    "Left out 6 occurrences in queue 'q': could not begin in time, and the onMissed of the recurrence makes up for no more: 'digest@1', 'digest@2', 'digest@3', 'digest@4', 'digest@5' and 1 more.",
    "Left out 1 occurrence in queue 'q': the previous occurrence had not ended, and overlap of the recurrence is not allowed: 'digest@7'.",
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

import { afterEach, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { currentScheduledJob, withinJob } from '../../../lib/core/job/current-job.js';
import { ReportedJob } from '../../../lib/core/job/reported-job.js';
import { safeLog } from '../../../lib/nest/safe-log.js';

afterEach(() => Logger.overrideLogger(false));

it('a logger that throws over a job of which little is known gets the line without the job', () => {
  const lines: string[] = [];
  const warn = (line: string) => void lines.push(`${line} due ${currentScheduledJob()?.dueAt.toISOString()}`);
  Logger.overrideLogger({ log() {}, error() {}, warn });
  const job = new ReportedJob({ queue: 'q', id: 'j1', name: 'work' });
  withinJob(job, () => safeLog('ScheduledQueue').warn('It is dead'));
  expect(lines).toEqual(['It is dead due undefined']);
});

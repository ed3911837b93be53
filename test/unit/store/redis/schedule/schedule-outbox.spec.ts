import { expect, it } from '@jest/globals';
import { QueueClosedError } from '../../../../../lib/core/errors.js';
import { currentScheduledJob, withCurrentJob } from '../../../../../lib/core/job/current-job.js';
import type { ScheduledJob } from '../../../../../lib/core/job/scheduled-job.js';
import { ScheduleOutbox } from '../../../../../lib/store/redis/schedule/schedule-outbox.js';

it('what sends the schedules of many callers is not below the handler that made the first of them', async () => {
  const seen: unknown[] = [];
  const connection = {
    now: () => performance.now(),
    ready: async () => {
      seen.push(currentScheduledJob());
      throw new QueueClosedError('closed');
    },
  };
  const queue = { queue: 'q', commandTimeoutMs: 1_000 };
  const outbox = new ScheduleOutbox(connection as never, {} as never, {} as never, {} as never, queue as never);
  const job = { name: 'job', payload: '' };
  const handler = withCurrentJob(() => outbox.add(job as never));
  await expect(handler(undefined, { id: 'a' } as ScheduledJob)).rejects.toThrow('closed');
  expect(seen).toEqual([undefined]);
});

import { beforeEach, expect, it } from '@jest/globals';
import { forEachItem } from '../../../../lib/api/many-schedules.js';
import { checkChosenId } from '../../../../lib/api/recurrence/chosen-ids.js';
import { readSchedule, type ScheduleRequest } from '../../../../lib/core/options/schedule-options.js';
import type { JobStore } from '../../../../lib/store/job-store.js';

let asked: string[];
let check: (job: ScheduleRequest) => Promise<void> | undefined;

beforeEach(() => {
  asked = [];
  const queue = (name: string) => ({
    recurrences: {
      get: async (id: string) => {
        asked.push(`${name}/${id}`);
        return id === 'digest' ? {} : undefined;
      },
    },
  });
  check = (job) => checkChosenId({ queue } as unknown as JobStore, job);
});

const request = (id?: string) => readSchedule('work', { id, queue: 'mail' });

it('only an id that has the form of one of an occurrence is asked for', async () => {
  for (const id of [undefined, 'digest', 'ada@example.com', 'digest@1x']) expect(check(request(id))).toBeUndefined();
  expect(asked).toEqual([]);
  await check(request('other@1800000000000'));
  expect(asked).toEqual(['mail/other']);
});

it('an id of an occurrence of a recurrence that exists is refused', async () => {
  await expect(check(request('digest@1800000000000'))).rejects.toMatchObject({
    code: 'INVALID_SCHEDULE',
    jobId: 'digest@1800000000000',
    queue: 'mail',
    jobName: 'work',
    message: expect.stringContaining("an occurrence of the recurrence 'digest' of queue 'mail'"),
  });
});

it('of many, the error says which one it is', async () => {
  const requests = [request('a@1'), request(), request('digest@7'), request('b@2')];
  await expect(forEachItem(requests, check)).rejects.toThrow(
    "scheduleMany: item 2: schedule('work'): id: got 'digest@7'",
  );
  expect(asked).toEqual(['mail/a', 'mail/digest', 'mail/b']);
});

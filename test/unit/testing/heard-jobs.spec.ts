import { expect, it } from '@jest/globals';
import type { ScheduledQueueEvent } from '../../../lib/core/job/events.js';
import { HeardJobs } from '../../../lib/testing/look/heard-jobs.js';

const DUE = new Date('2027-01-01T10:00:00Z');

/** What was heard of jobs of the name 'mail'. */
function hearing() {
  const heard = new HeardJobs();
  const run = { name: 'mail', attempt: 1 };
  return {
    heard,
    scheduled: (id: string, queue = 'default', name = 'mail') =>
      heard.hear({ type: 'scheduled', queue, id, name, dueAt: DUE }),
    cancelled: (id: string, queue = 'default') => heard.hear({ type: 'cancelled', queue, id }),
    completed: (id: string, queue = 'default') =>
      heard.hear({ type: 'completed', queue, id, ...run, durationMs: 0 } as ScheduledQueueEvent),
    dead: (id: string, queue = 'default') =>
      heard.hear({ type: 'dead', queue, id, ...run, reason: 'crashed' } as ScheduledQueueEvent),
    gone: (queue?: string, name = 'mail') => heard.gone({ name, queue }).map((job) => `${job.queue} ${job.id}`),
    endOf: (id: string, queue = 'default') => heard.endOf({ id, queue }),
  };
}

it('an id that is used again after a cancel, and then completes or dies, is gone no more', () => {
  const { scheduled, cancelled, completed, dead, gone, endOf } = hearing();
  for (const id of ['a', 'b', 'c']) {
    scheduled(id);
    cancelled(id);
    scheduled(id);
  }
  completed('a');
  dead('c');
  expect(gone()).toEqual(['default b']);
  expect(['a', 'b', 'c', 'd'].map((id) => endOf(id))).toEqual(['completed', 'cancelled', 'dead', undefined]);
});

it('those that are gone are told in the order of their latest ends', () => {
  const { scheduled, cancelled, completed, gone } = hearing();
  for (const id of ['c', 'b', 'a', 'd']) scheduled(id);
  for (const id of ['c', 'b', 'a', 'd']) cancelled(id);
  expect(gone()).toEqual(['default c', 'default b', 'default a', 'default d']);
  // A job that is put off again and again by its id, and one that has run between two cancels.
  scheduled('b');
  cancelled('b');
  scheduled('c');
  completed('c');
  scheduled('c');
  cancelled('c');
  expect(gone()).toEqual(['default a', 'default d', 'default b', 'default c']);
});

it('a job of another queue that has the same id is another job', () => {
  const { heard, scheduled, cancelled, completed, gone, endOf } = hearing();
  scheduled('a');
  scheduled('a', 'other');
  cancelled('a');
  expect(endOf('a', 'other')).toBeUndefined();
  completed('a', 'other');
  expect([endOf('a'), endOf('a', 'other')]).toEqual(['cancelled', 'completed']);
  scheduled('b', 'other');
  cancelled('b', 'other');
  expect([gone(), gone('default'), gone('other')]).toEqual([['default a', 'other b'], ['default a'], ['other b']]);
  expect([heard.queuesOf('a'), heard.queuesOf('b'), heard.queuesOf('c')]).toEqual([
    ['default', 'other'],
    ['other'],
    [],
  ]);
});

it('a job is gone under the name that it had last', () => {
  const { scheduled, cancelled, gone } = hearing();
  scheduled('a');
  cancelled('a');
  scheduled('a', 'default', 'letter');
  cancelled('a');
  expect([gone(), gone(undefined, 'letter')]).toEqual([[], ['default a']]);
});

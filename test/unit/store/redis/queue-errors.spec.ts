import { expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import type { QueueStore } from '../../../../lib/store/job-store.js';
import { RedisJobStore } from '../../../../lib/store/redis/redis-job-store.js';

const CALLS: Record<string, [call: (queue: QueueStore) => Promise<unknown>, about?: object]> = {
  cancel: [({ jobs }) => jobs.cancel('x'), { jobId: 'x' }],
  cancelRunning: [({ jobs }) => jobs.cancelRunning('x'), { jobId: 'x' }],
  remove: [({ jobs }) => jobs.remove('x'), { jobId: 'x' }],
  reschedule: [({ jobs }) => jobs.reschedule('x', { delayMs: 0 }), { jobId: 'x' }],
  pause: [({ management }) => management.pause()],
  tendBlackouts: [({ management }) => management.tendBlackouts()],
  replayDead: [({ management }) => management.replayDead('x', { delayMs: 0 }), { jobId: 'x' }],
  purgeDead: [({ management }) => management.purgeDead()],
  counts: [({ view }) => view.counts()],
  stats: [({ view }) => view.stats()],
  job: [({ view }) => view.job('x'), { jobId: 'x' }],
  list: [({ view }) => view.list('dead', 0, 10)],
  handledBy: [({ view }) => view.handledBy('send'), { jobName: 'send' }],
  blackouts: [({ view }) => view.blackouts()],
  'a recurrence that is removed': [({ recurrences }) => recurrences.remove('r')],
  'a recurrence that is read': [({ recurrences }) => recurrences.get('r')],
  'an orphan that is removed': [({ declarations }) => declarations.removeOrphan('r', 'app', 1_000)],
  'events that are read': [({ events }) => events.read('end')],
};

it.each(Object.entries(CALLS))('the error of a call says which queue it was about: %s', async (_, [call, about]) => {
  const store = new RedisJobStore({
    connection: { port: 1, lazyConnect: true },
    prefix: 'sq',
    commandTimeoutMs: 1_000,
    settingsOf: (queue) => readQueueOptions(queue, {}),
    log: { log() {}, warn() {}, error() {} },
  });
  await store.close();
  await expect(call(store.queue('mail'))).rejects.toMatchObject({ code: 'QUEUE_CLOSED', queue: 'mail', ...about });
});

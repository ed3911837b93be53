import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../lib/core/errors.js';
import { redisUrl } from '../support/queue-app.js';
import { newJob, TestStore } from '../support/store.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/wait.js';

let proxy: TcpProxy;
let test: TestStore;

beforeEach(async () => {
  proxy = await TcpProxy.start(redisUrl());
});

/** A store with one job, over a proxy that may break answers. A call is given up after `commandTimeoutMs`. */
async function open(commandTimeoutMs?: number): Promise<void> {
  test = new TestStore({}, proxy.url, undefined, commandTimeoutMs);
  // With an id, as it may have to be asked for again where the time for a call is short.
  await until('a job is there', () => test.schedule({ id: 'there' }).catch(() => undefined));
}

afterEach(async () => {
  proxy.rewrite((reply) => reply);
  await test.close();
  await proxy.stop();
});

const ALL = { states: ['due', 'active', 'dead', 'completed'] } as const;

const CALLS: Record<string, () => Promise<unknown>> = {
  schedule: () => test.jobs.schedule(newJob()),
  replace: () => test.replace({ id: 'x' }),
  cancel: () => test.jobs.cancel('x'),
  pause: () => test.management.pause(),
  clear: () => test.management.clear(),
  job: () => test.view.job('x'),
  counts: () => test.view.counts(),
  stats: () => test.view.stats(),
  find: () => test.view.find(ALL, undefined, { size: 5, limit: 5 }),
  'list of due jobs': () => test.view.list('due', 0, 5),
  'list of dead jobs': () => test.view.list('dead', 0, 5),
  'list of active jobs': () => test.view.list('active', 0, 5),
  queues: () => test.store.queues(),
  'removal of a recurrence': () => test.recurrences.remove('x'),
};
/** A list may be an answer to these. */
const ANSWERED_BY_LISTS = new Set(['job', 'stats', 'list of dead jobs', 'list of active jobs']);

it.each(Object.keys(CALLS))(
  'an answer that cannot be one leaves open whether the call has happened: %s',
  async (call) => {
    // Short, as each of these answers is asked for again until the time for a call is over.
    await open(300);
    for (const answer of ['+OK', ':1', '$-1', '*1\r\n*0', '*0']) {
      proxy.rewrite(() => `${answer}\r\n`);
      const outcome = await CALLS[call]!().catch((error: unknown) => error);
      if (ANSWERED_BY_LISTS.has(call) && answer.startsWith('*') && !(outcome instanceof Error)) continue;
      expect(outcome).toBeInstanceOf(QueueUnavailableError);
      expect(outcome).toMatchObject({ outcome: 'unknown' });
    }
  },
);

it('a call that was answered so is made once, as soon as answers can be read', async () => {
  await open();
  let broken = 3;
  proxy.rewrite((reply) => (broken-- > 0 ? '+OK\r\n' : reply));
  await test.schedule({ id: 'x' });
  broken = 3;
  expect((await test.worker('w').turn({ limit: 2 })).claimed).toHaveLength(2);
  expect(await test.view.counts()).toMatchObject({ due: 0, active: 2 });
  expect(await test.view.stats()).toMatchObject({ scheduled: 2, started: 2 });
});

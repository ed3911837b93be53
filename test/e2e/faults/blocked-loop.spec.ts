import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('a worker whose event loop is blocked for longer than a lease settles nothing: the run of another one counts', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  const options = { leaseMs: 1_000, keepCompleted: 10 };
  await workers.start('blocked', options);
  const ref = await producer.schedule('work', { blockMs: 12_000 });
  await until('it runs', () => workers.history().some(({ event, id }) => event === 'start' && id === ref.id));
  // Still at it when the blocked run ends: whoever looked for less than the fence would take that for the end of this one.
  await workers.start('other', { ...options, ignoreBlock: true, workMs: 5_000 });
  await until('another run has begun', () => workers.history().some(({ worker }) => worker === 'other'));
  expect(workers.history().some(({ event }) => event === 'end')).toBe(false);
  const done = await until('the other one has run it', async () => {
    const job = await inspector.job(ref);
    return job?.state === 'completed' ? job : undefined;
  });
  expect(done).toMatchObject({ result: 'other', attempts: 2 });
  await until('the blocked run has ended too', () =>
    workers.history().some(({ event, id, worker }) => event === 'end' && id === ref.id && worker === 'blocked'),
  );
  // A job that the blocked one runs after that shows that its settlement has been refused.
  workers.signal('other', 'SIGKILL');
  await workers.ended('other');
  await producer.schedule('work', null);
  await until('it goes on', async () => (await inspector.stats()).completed === 2);
  expect(await inspector.job(ref)).toMatchObject({ state: 'completed', result: 'other', attempts: 2 });
  expect(await inspector.stats()).toMatchObject({ scheduled: 2, started: 3, completed: 2, recovered: 1, failed: 0 });
});

it.each([
  ['payloads are passed on as they are', false],
  ['payloads are checked against a class', true],
])(
  'a handler that blocks for longer than a lease keeps the jobs claimed with it from beginning here, where %s',
  async (_, checkPayloads) => {
    const { producer, inspector } = await startApp([], { prefix: workers.prefix });
    const payloads = [{ blockMs: 12_000 }, {}, {}, {}];
    const refs = await producer.scheduleMany(payloads.map((payload) => ({ job: 'work', payload })));
    await workers.start('blocked', { leaseMs: 1_000, concurrency: 5, checkPayloads });
    await until('the first runs', () => workers.history().some(({ event }) => event === 'start'));
    await workers.start('other', { leaseMs: 1_000, ignoreBlock: true });
    await until('all have run elsewhere', async () => (await inspector.stats()).completed === refs.length);
    const end = ({ event, worker }: { event: string; worker: string }) => event === 'end' && worker === 'blocked';
    await until('the blocked run has ended', () => workers.history().some(end));
    // A job that the blocked one runs after that shows that it has taken in all that it claimed.
    workers.signal('other', 'SIGKILL');
    await workers.ended('other');
    const last = await producer.schedule('work', {});
    await until('it goes on', async () => (await inspector.stats()).completed === refs.length + 1);
    const startedHere = workers.history().filter(({ event, worker }) => event === 'start' && worker === 'blocked');
    expect(startedHere.map(({ id }) => id)).toEqual([refs[0]?.id, last.id]);
  },
);

it('a worker whose event loop is blocked for less than a lease keeps its jobs, and none runs twice', async () => {
  const { producer, inspector } = await startApp([], { prefix: workers.prefix });
  // Renewed every second: blocked for 800 ms, a lease of 3 s has more than a second left.
  const options = { leaseMs: 3_000, workMs: 1_500, concurrency: 5 };
  await Promise.all(['a', 'b'].map((id) => workers.start(id, options)));
  const payloads = [null, { blockMs: 800 }, null, { blockMs: 800 }, null, null];
  await producer.scheduleMany(payloads.map((payload) => ({ job: 'work', payload })));
  await until('all are done', async () => (await inspector.stats()).completed === payloads.length);
  expect(workers.history().filter(({ event }) => event === 'start')).toHaveLength(payloads.length);
  expect(await inspector.stats()).toMatchObject({ started: payloads.length, recovered: 0, failed: 0 });
});

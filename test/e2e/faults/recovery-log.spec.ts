import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';
import { WorkerProcesses } from '../../support/worker-process.js';

let workers: WorkerProcesses;

beforeEach(() => {
  workers = new WorkerProcesses();
});

afterEach(async () => {
  await workers.stop();
  await stopApps();
});

it('when the jobs of a killed worker come back, one line says how many, which, and from whom', async () => {
  const log = new LogLines();
  const queues = { default: { leaseMs: 2_000 } };
  const { producer, consumer, inspector, get } = await startApp(
    [Work],
    { prefix: workers.prefix, autoStart: false, queues },
    { log },
  );
  await producer.scheduleMany(Array.from({ length: 30 }, (_, payload) => ({ job: 'work', payload })));
  await workers.start('w1', { concurrency: 30, leaseMs: 2_000, workMs: 60_000 });
  await until('all run', async () => (await inspector.counts()).active === 30);
  workers.signal('w1', 'SIGKILL');
  await workers.ended('w1');
  await consumer.start();
  await until('all have run', () => get(Work).runs.length === 30);
  expect(log.lines).toEqual([
    expect.stringMatching(
      /^warn Recovered 30 jobs of queue 'default', whose leases ran out because worker 'w1' died, was stopped without app\.enableShutdownHooks\(\), was blocked or was cut off from Redis: 'work' \(30: \w+, \w+, \w+, …\)\.$/,
    ),
  ]);
});

import { hostname } from 'node:os';
import { afterEach, expect, it } from '@jest/globals';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { WorkerProcesses } from '../../support/worker-process.js';

const processes = new WorkerProcesses();

afterEach(async () => {
  await processes.stop();
  await stopApps();
});

it('two processes of different options both warn after ten minutes, and workers() shows how they differ', async () => {
  const { inspector } = await startApp([], { prefix: processes.prefix, role: 'producer' });
  const options = { wrongClock: 'passing', keepsLog: true } as const;
  await Promise.all([
    processes.start('a', { ...options, keepCompleted: 1 }),
    processes.start('b', { ...options, keepCompleted: 2 }),
  ]);
  const workers = () =>
    until('both are there', async () => {
      const found = await inspector.workers();
      return found.length === 2 && found;
    });
  const [a, b] = await workers();
  expect(a!.options).toMatchObject({ keepCompleted: { count: 1, ageMs: null }, keepDead: { count: 10_000 } });
  expect(b!.options).toEqual({ ...a!.options, keepCompleted: { count: 2, ageMs: null } });

  const told = (id: string) => [...processes.logged(id).matchAll(/The processes of queue .* and .*\. Give all .*/g)];
  const haveTold = () => told('a').length > 0 && told('b').length > 0;
  // A look after each five minutes: the first may come before one of them was there, and the third after that tells.
  for (let i = 0; i < 6 && !haveTold(); i++) {
    const seenAt = (await workers()).map(({ lastSeenAt }) => lastSeenAt);
    for (const id of ['a', 'b']) processes.signal(id, 'SIGCONT');
    // Twice, as the first may have been on its way already.
    for (let times = 0; times < 2; times++)
      await until('both list themselves', async () => {
        const nowSeenAt = (await workers()).map(({ lastSeenAt }) => lastSeenAt);
        return nowSeenAt.every((at, i) => at > seenAt[i]!) && seenAt.splice(0, 2, ...nowSeenAt);
      });
  }
  await until('both have told', haveTold);
  const [inA, inB] = [a!, b!].map(({ id, pid }) => `in worker '${id}' (${hostname()}, pid ${pid})`);
  const [one, two] = ['{"count":1,"ageMs":null}', '{"count":2,"ageMs":null}'];
  expect(told('a')).toHaveLength(1);
  expect(told('a')[0]![0]).toContain(`keepCompleted is ${one} ${inA}, and ${two} ${inB}. Give all of them the same`);
  expect(told('b')).toHaveLength(1);
  expect(told('b')[0]![0]).toContain(`keepCompleted is ${two} ${inB}, and ${one} ${inA}. Give all of them the same`);
});

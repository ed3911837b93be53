import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import type { ScheduledQueueProducer } from '../../../lib/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';

// Real processes and real signals: whoever presses Ctrl-C twice does not want to wait.

/** A signal that comes sooner after the first one may be of the same Ctrl-C. */
const SAME_PRESS_MS = 500;

const processes: ChildProcess[] = [];

afterEach(async () => {
  for (const child of processes.splice(0)) child.kill('SIGKILL');
  await stopApps();
});

interface Drainer {
  lines: string[];
  kill(signal: NodeJS.Signals): void;
  close(): void;
  /** What ended it: an exit code or a signal. */
  ended: Promise<number | NodeJS.Signals>;
}

/** A process whose `jobs` handlers run. */
async function startDrainer(
  producer: ScheduledQueueProducer,
  prefix: string,
  {
    jobs = 1,
    workMs = 600_000,
    shutdownTimeoutMs = 20_000,
    hooks = true,
    redis = redisUrl(),
    pops = false,
    timeoutMs = 600_000,
  },
): Promise<Drainer> {
  const child = fork('dist-test/drainer.js', {
    env: {
      ...process.env,
      REDIS: redis,
      PREFIX: prefix,
      WORK_MS: String(workMs),
      SHUTDOWN_TIMEOUT_MS: String(shutdownTimeoutMs),
      HOOKS: hooks ? '1' : '',
      POP: pops ? '1' : '',
      NODE_OPTIONS: '',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  processes.push(child);
  const lines: string[] = [];
  child.on('message', (line) => lines.push(String(line)));
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  await until('the process is ready', () => lines.includes('ready'));
  await producer.scheduleMany(
    Array.from({ length: jobs }, () => ({ job: 'work', payload: null, options: { timeoutMs, maxAttempts: 1 } })),
  );
  await until('all run', () => lines.filter((line) => line === 'running').length === jobs);
  return { lines, ended, kill: (signal) => void child.kill(signal), close: () => void child.send('close') };
}

const waiting = ({ lines }: Drainer) => lines.some((line) => line.startsWith('log Waiting'));

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a second %s gives the running jobs back and ends the process at once, and says so in one line',
  async (signal) => {
    const { producer, inspector, prefix } = await startApp([], { prefix: newPrefix() });
    const drainer = await startDrainer(producer, prefix, { jobs: 3 });
    drainer.kill(signal);
    await until('they are waited for', () => waiting(drainer));
    await sleep(SAME_PRESS_MS + 100);
    const from = performance.now();
    drainer.kill(signal);
    expect(await drainer.ended).toBe(signal === 'SIGINT' ? 130 : 143);
    expect(performance.now() - from).toBeLessThan(BEFORE_NEXT_LOOK_MS);
    expect(drainer.lines.slice(drainer.lines.lastIndexOf('running') + 1)).toEqual([
      'log Waiting up to 20 s for 3 running jobs: work (3).',
      `warn ${signal} during the shutdown: running jobs go back to the queue at once, and the process ends.`,
      'log Done waiting for 3 running jobs: 3 went back to the queue.',
      `exit ${signal === 'SIGINT' ? 130 : 143}`,
    ]);
    // No lease has to run out first, and no attempt was used.
    expect(await inspector.counts()).toMatchObject({ due: 3, active: 0 });
    expect((await inspector.list('due')).map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
  },
);

it('a second signal ends the wait for a handler that goes on after its run', async () => {
  const { producer, inspector, prefix } = await startApp([], { prefix: newPrefix() });
  const drainer = await startDrainer(producer, prefix, { timeoutMs: 200 });
  await until('its time is over', async () => (await inspector.counts()).dead === 1);
  drainer.kill('SIGTERM');
  await until('it is waited for', () => waiting(drainer));
  await sleep(SAME_PRESS_MS + 100);
  drainer.kill('SIGTERM');
  expect(await drainer.ended).toBe(143);
  expect(drainer.lines).toContain('warn Done waiting for 1 stuck handler: 1 stuck handler did not return: work.');
});

it('a second signal gives popped jobs back as well', async () => {
  const { producer, inspector, prefix } = await startApp([], { prefix: newPrefix() });
  await producer.schedule('popped', null, { id: 'popped' });
  const drainer = await startDrainer(producer, prefix, { pops: true });
  drainer.kill('SIGINT');
  await until('it is waited for', () => waiting(drainer));
  await sleep(SAME_PRESS_MS + 100);
  drainer.kill('SIGINT');
  expect(await drainer.ended).toBe(130);
  expect(await inspector.job('popped')).toMatchObject({ state: 'due', attempts: 0 });
});

it('one Ctrl-C that arrives twice, as under npm, is one: the running jobs are waited for', async () => {
  const { producer, inspector, prefix } = await startApp([], { prefix: newPrefix() });
  const drainer = await startDrainer(producer, prefix, { workMs: 1_500 });
  drainer.kill('SIGINT');
  await until('it is waited for', () => waiting(drainer));
  drainer.kill('SIGINT');
  expect(await drainer.ended).toBe('SIGINT');
  expect(drainer.lines.slice(-4)).toEqual([
    'log Waiting up to 20 s for 1 running job: work.',
    'ran',
    'log Done waiting for 1 running job: 1 ended.',
    'destroyed',
  ]);
  expect(await inspector.stats()).toMatchObject({ completed: 1, failed: 0 });
});

it('a second Ctrl-C that arrives twice, as under npm, is one: the process ends after the running jobs have gone back', async () => {
  const { producer, inspector, prefix } = await startApp([], { prefix: newPrefix() });
  // So that the other copy of the signal comes before Redis answers.
  const proxy = await TcpProxy.start(redisUrl());
  proxy.slow({ pieceBytes: 65_536, delayMs: 150 });
  try {
    const drainer = await startDrainer(producer, prefix, { jobs: 3, redis: proxy.url });
    drainer.kill('SIGINT');
    await until('they are waited for', () => waiting(drainer));
    await sleep(SAME_PRESS_MS + 100);
    drainer.kill('SIGINT');
    await until('it was heard', () => drainer.lines.some((line) => line.startsWith('warn SIGINT')));
    drainer.kill('SIGINT');
    expect(await drainer.ended).toBe(130);
    expect(drainer.lines).toContain('log Done waiting for 3 running jobs: 3 went back to the queue.');
    expect(await inspector.counts()).toMatchObject({ due: 3, active: 0 });
  } finally {
    await proxy.stop();
  }
});

it('without shutdown hooks the first signal ends the process, also while it closes', async () => {
  const { producer, prefix } = await startApp([], { prefix: newPrefix() });
  const drainer = await startDrainer(producer, prefix, { hooks: false });
  drainer.close();
  await until('it is waited for', () => waiting(drainer));
  drainer.kill('SIGINT');
  expect(await drainer.ended).toBe('SIGINT');
  expect(drainer.lines.filter((line) => line.startsWith('warn'))).toEqual([]);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Maintenance } from './operations/maintenance.js';

afterEach(stopApps);

it('the blackouts of docs/operations.md are set, and told as they are', async () => {
  const { get, inspector } = await startApp([Maintenance]);
  await get(Maintenance).plan();
  expect(await inspector.blackouts({ queue: 'orders' })).toEqual([
    { cron: '0 22 * * *', durationMs: 8 * 3_600_000, timeZone: 'Europe/Paris' },
    { from: new Date('2032-05-08T16:00:00Z'), to: new Date('2032-05-09T04:00:00Z') },
  ]);
  expect(await inspector.blackouts()).toEqual([]);
});

it('the console of docs/operations.md tells of a queue, runs no jobs, and ends', async () => {
  const { prefix, producer } = await startApp([], { role: 'producer' });
  await producer.schedule('send', null, { id: 'late-one', queue: 'mail' });
  const text = await typed(prefix, [
    'await inspector.queues()',
    "const [job] = await inspector.list('due', { limit: 1, queue: 'mail' })",
    'await inspector.explain(job)',
    "await inspector.pause({ queue: 'mail', forMs: '30m' })",
    '(await inspector.explain(job)).code',
  ]);
  expect(text).toMatch(/queue> \[ { name: 'mail', lastSeenAt: /);
  expect(text).toContain("code: 'no-handler'");
  expect(text).toMatch(/queue> 'paused'\n/);
});

/** What `node dist/console.js` of the page answers to these lines. Compiled by the global set-up. */
async function typed(prefix: string, lines: string[]): Promise<string> {
  const file = './operations/console.js'.replace('./operations', 'dist-test');
  const env = { ...process.env, REDIS_URL: redisUrl(), QUEUE_PREFIX: prefix, NODE_OPTIONS: '', NO_COLOR: '1' };
  const child = spawn(process.execPath, [file], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data;
    });
    const ended = once(child, 'exit');
    for (const [i, line] of lines.entries()) {
      await until(`prompt ${i}`, () => text.split('queue> ').length === i + 2 && text.endsWith('queue> '));
      child.stdin.write(`${line}\n`);
    }
    await until('the last prompt', () => text.split('queue> ').length === lines.length + 2);
    child.stdin.write('.exit\n');
    expect(await ended).toEqual([0, null]);
    return text;
  } finally {
    child.kill('SIGKILL');
  }
}

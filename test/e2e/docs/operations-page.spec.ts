import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { freePort } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Maintenance } from './operations/maintenance.js';

/** Processes start slowly on a busy machine. */

const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await stopApps();
});

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

it('the deployments of docs/operations.md: the API schedules, and each worker runs the jobs of its queue alone', async () => {
  const { prefix, inspector } = await startApp([], { role: 'producer' });
  const [api, mail, video] = await Promise.all(['api', 'mail', 'video'].map((name) => deployed(prefix, name)));
  const workersOf = async (queue: string) => (await inspector.workers({ queue })).map(({ pid }) => pid);
  await until('both queues have a worker', async () => {
    const workers = await Promise.all([workersOf('mail'), workersOf('video')]);
    return workers.flat().length === 2;
  });
  expect(await workersOf('mail')).toEqual([mail!.child.pid]);
  expect(await workersOf('video')).toEqual([video!.child.pid]);
  expect(video!.said()).toContain("Not run here {mail.send, queue mail} of Films.send (AppModule) (runs 'video')");

  expect((await fetch(`${api!.url}/films/a`, { method: 'POST' })).status).toBe(201);
  await until('the mail is sent', () => mail!.said().includes('A mail: a is there'));
  await until('it is told', () => video!.said().includes('Encoding a …'));
  expect(`${mail!.said()} ${api!.said()}`).not.toContain('Encoding');

  // What kills a process that encodes harms no mail.
  video!.child.kill('SIGKILL');
  await once(video!.child, 'exit');
  expect((await fetch(`${api!.url}/films/b`, { method: 'POST' })).status).toBe(201);
  expect((await fetch(`${mail!.url}/films/c`, { method: 'POST' })).status).toBe(201);
  const again = await deployed(prefix, 'video');
  for (const film of ['b', 'c'])
    await until(`${film} is told`, () => mail!.said().includes(`A mail: ${film} is there`));
  await until('it is told', () => again.said().includes('Encoding b …'));
}, 180_000);

it('the deployments of docs/operations.md: one process does everything where none is named, and none is misspelt', async () => {
  const { prefix } = await startApp([], { role: 'producer' });
  const all = await deployed(prefix, undefined);
  expect((await fetch(`${all.url}/films/a`, { method: 'POST' })).status).toBe(201);
  await until('the mail is sent', () => all.said().includes('A mail: a is there'));
  expect(all.said()).not.toContain('Not run here');
  await expect(deployed(prefix, 'vidoe')).rejects.toThrow('Unknown DEPLOYMENT: vidoe');
}, 180_000);

/** A process of the page's deployments that listens. Compiled by the global set-up. */
async function deployed(prefix: string, deployment: string | undefined) {
  const port = await freePort();
  const file = './operations/deployments.js'.replace('./operations', 'dist-test');
  const env = {
    ...process.env,
    REDIS_URL: redisUrl(),
    QUEUE_PREFIX: prefix,
    PORT: String(port),
    DEPLOYMENT: deployment,
  };
  const child = spawn(process.execPath, [file], { env: { ...env, NODE_OPTIONS: '', NO_COLOR: '1' } });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (data: string) => {
      text += data;
    });
  const url = `http://127.0.0.1:${port}`;
  const listens = () => fetch(url).then(Boolean, () => false);
  await until(`${deployment} listens`, async () => child.exitCode !== null || (await listens()));
  if (child.exitCode !== null) throw new Error(text);
  return { child, url, said: () => text };
}

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

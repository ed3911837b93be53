import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { succeeds } from '../../support/install-redis.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

// The program on a terminal of its own, in a pipe that nobody reads any more, and interrupted.

const PROGRAM = 'dist/command-line/index.js';
const prefix = newPrefix();
let app: QueueApp;

beforeAll(async () => {
  app = await startApp([], { prefix, role: 'producer', queues: { default: { streamEvents: { maxLength: 100 } } } });
  const items = Array.from({ length: 2_000 }, (_, i) => ({
    job: 'later',
    payload: { text: 'x'.repeat(100) },
    options: { id: `later/${i}`, delay: '1h' } as const,
  }));
  await app.producer.scheduleMany(items);
});

afterAll(stopApps);

function start(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, TERM: 'xterm', REDIS_URL: redisUrl(), ...env },
    stdio: 'pipe',
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  return { child, said, code: once(child, 'close').then(([code]) => code as number) };
}

/** `script` of util-linux runs a command on a terminal that it makes; what it is told is typed there. */
const onTerminal = (line: string, env?: Record<string, string>) =>
  start('script', ['-qec', `${process.execPath} ${PROGRAM} ${line} --prefix ${prefix}`, '/dev/null'], env);

// On a machine without it there is no terminal to be had.
const hasScript = succeeds('script', '--version');
if (!hasScript) console.warn(`'script' of util-linux is missing: nothing is tested on a terminal.`);
const withTerminal = hasScript ? it : it.skip;

withTerminal('asks on a terminal, and does what the answer says', async () => {
  for (const [id, answer, wanted] of [
    ['later/1', 'n', 'scheduled'],
    ['later/2', 'yes', undefined],
  ] as const) {
    const { child, said, code } = onTerminal(`cancel default ${id}`);
    await until('it asks', () => said.out.includes(`Cancel job '${id}' of queue 'default'? [y/N]`));
    child.stdin.write(`${answer}\n`);
    expect(await code).toBe(wanted === undefined ? 0 : 1);
    expect((await app.inspector.job(id))?.state).toBe(wanted);
  }
});

withTerminal('has colours on a terminal, and none with NO_COLOR or as JSON', async () => {
  const shown = async (line: string, env?: Record<string, string>) => {
    const { said, code } = onTerminal(line, env);
    expect(await code).toBe(0);
    return said.out;
  };
  expect(await shown('stats default')).toContain('\u001b[1mqueue');
  expect(await shown('stats default', { NO_COLOR: '1' })).not.toContain('\u001b[');
  expect(await shown('stats default --json')).not.toContain('\u001b[');
});

it('says nothing where nobody reads on, as in `| head`', async () => {
  const line = `${process.execPath} ${PROGRAM} list default scheduled --limit 2000 --json --prefix ${prefix} | head -c 10`;
  const { said, code } = start('sh', ['-c', line]);
  expect(await code).toBe(0);
  expect(said).toEqual({ out: '[{"id":"la', err: '' });
});

it('tail ends with 0 when it is interrupted', async () => {
  const { child, said, code } = start(process.execPath, [
    PROGRAM,
    'tail',
    'default',
    '--from',
    '0',
    '--prefix',
    prefix,
  ]);
  await app.producer.schedule('later', {}, { id: 'heard', delay: '1h' });
  await until('it is told', () => said.out.includes('heard'));
  child.kill('SIGINT');
  expect(await code).toBe(0);
  expect(said.out).toMatch(/^scheduled {4}later {2}heard {2}dueAt \d{4}-/m);
});

it('tail says when Redis goes and comes back, and goes on behind the last event', async () => {
  const proxy = await TcpProxy.start(redisUrl());
  const line = [PROGRAM, 'tail', 'default', '--from', '0', '--prefix', prefix, '--url', proxy.url];
  const { child, said, code } = start(process.execPath, line);
  await app.producer.schedule('later', {}, { id: 'before', delay: '1h' });
  await until('it is told', () => said.out.includes('before'));
  proxy.refuse();
  await until('it says so', () => /^Redis cannot be reached /m.test(said.err));
  await app.producer.schedule('later', {}, { id: 'meanwhile', delay: '1h' });
  proxy.accept();
  await until('it goes on', () => said.out.includes('meanwhile'));
  await until('it says so', () => /^Redis is back after \d+ ms\.$/m.test(said.err));
  child.kill('SIGINT');
  expect(await code).toBe(0);
  expect(said.out.match(/before/g)).toHaveLength(1);
  await proxy.stop();
});

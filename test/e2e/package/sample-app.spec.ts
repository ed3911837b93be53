import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

/** The compiler has to run first, which takes its time where others use the machine. */
const START_DEADLINE_MS = 60_000;

let sample: ChildProcess;
let output = '';
let url = '';
const prefix = newPrefix();

beforeAll(async () => {
  sample = spawn(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'start', 'sample-app', '--no-shell'], {
    // A group of its own, so that nothing of it outlives the test, whatever goes wrong.
    detached: true,
    env: {
      ...process.env,
      REDIS_URL: redisUrl(),
      SAMPLE_PREFIX: prefix,
      PORT: '0',
      NO_COLOR: '1',
      NODE_OPTIONS: '',
    },
  });
  sample.stdout!.on('data', (chunk) => (output += chunk));
  sample.stderr!.on('data', (chunk) => (output += chunk));
  url = (await line(/Reminders at (http:\S+\/reminders)/, START_DEADLINE_MS))[1]!;
}, START_DEADLINE_MS + 5_000);

afterAll(() => {
  try {
    process.kill(-sample.pid!, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
});

it('prints one line with due time, start time and lateness for each reminder that it scheduled at its start', async () => {
  const times = String.raw`due \d\d:\d\d:\d\d\.\d{3}, started \d\d:\d\d:\d\d\.\d{3}, (\d+) ms late`;
  for (const text of ['Due at once', 'Due 1 s after the start', 'Due 3 s after the start']) {
    await line(new RegExp(`reminder.send "${text}" attempt 1 of 5: ${times}`));
  }
  expect(output.match(/"Due at once"/g)).toHaveLength(1);
});

it('says and does what the README shows of its log', async () => {
  const [, block] = readFileSync('README.md', 'utf8').match(/^```\n(Reminders at .*?)\n```$/ms)!;
  const port = new URL(url).port;
  for (const printed of block!.replaceAll('localhost:3000', `localhost:${port}`).split('\n')) {
    await line(new RegExp(printed.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.+')));
  }
});

it('shows a job that fails twice and then succeeds', async () => {
  await line(/reminder\.webhook "example\.com" attempt 3 of 5/);
  expect(output.match(/failed in attempt \d/g)).toEqual(['failed in attempt 1', 'failed in attempt 2']);
  expect(output).not.toContain('attempt 4 of 5');
});

it('handles a reminder that was posted, and still knows it afterwards', async () => {
  const posted = await post({ text: 'Tea', inSeconds: 0.2 });
  expect(posted.status).toBe(201);
  const { id, dueAt } = (await posted.json()) as { id: string; dueAt: string };
  await line(/reminder\.send "Tea" attempt 1 of 5/);
  const sent = await until('the reminder is completed', async () => {
    const reminder = (await get(id)).body as { state: string };
    return reminder.state === 'completed' && reminder;
  });
  expect(sent).toEqual({ id, text: 'Tea', state: 'completed', dueAt });
});

it('lists a reminder while it waits, and never sends one that was deleted', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const { id } = (await (await post({ text: 'Cake', at })).json()) as { id: string };
  const waiting = { id, text: 'Cake', state: 'scheduled', dueAt: at };
  expect((await get(id)).body).toEqual(waiting);
  expect((await get()).body).toContainEqual(waiting);
  expect(await remove(id)).toBe(204);
  expect((await get(id)).status).toBe(404);
  expect((await get()).body).not.toContainEqual(waiting);
  expect(await remove(id)).toBe(404);
});

it('has the next daily digest armed, for seven in the morning in Paris', async () => {
  const { inspector } = await startApp([], { prefix, role: 'producer' });
  const digest = await until('the digest is armed', async () =>
    (await inspector.list('scheduled')).find(({ name }) => name === 'reminders.digest'),
  );
  expect(digest.dueAt.toLocaleTimeString('en-GB', { timeZone: 'Europe/Paris' })).toBe('07:00:00');
  await stopApps();
});

it('shows its queue on a dashboard at /queues to whoever knows the password that it has printed', async () => {
  const [, board, password] = await line(/The queue is at (http:\S+\/queues) for user operator, password (\S+)/);
  const ask = (path: string, headers = {}) => fetch(`${board}${path}`, { headers });
  const authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
  expect((await ask('/')).status).toBe(401);
  expect((await ask('/api/queues')).status).toBe(401);
  expect(await (await ask('/', { authorization })).text()).toContain('<base href="/queues/"');
  const { queues } = (await (await ask('/api/queues', { authorization })).json()) as { queues: object[] };
  // The daily digest is the one that recurs.
  expect(queues).toEqual([expect.objectContaining({ name: 'default', hasWorkers: true, jobSchedulerCount: 1 })]);
});

it('answers 409 to the deletion of a reminder that was sent, and 404 to that of one that never was', async () => {
  const { id } = (await (await post({ text: 'Sent' })).json()) as { id: string };
  await until(
    'the reminder is completed',
    async () => ((await get(id)).body as { state: string }).state === 'completed',
  );
  expect(await remove(id)).toBe(409);
  expect(await remove('never-scheduled')).toBe(404);
});

it.each([
  ['no text', {}, 'text must be a string'],
  ['an unknown property', { text: 'Tea', when: 'now' }, 'property when should not exist'],
  ['a negative delay', { text: 'Tea', inSeconds: -1 }, 'inSeconds must not be less than 0'],
  ['a time without an offset', { text: 'Tea', at: '2030-01-01 09:00' }, 'ISO 8601 with time and Z or offset'],
  ['both at and inSeconds', { text: 'Tea', at: '2030-01-01T09:00:00Z', inSeconds: 1 }, 'expected one of them'],
])('answers 400 to %s and says what is wrong', async (_, body, message) => {
  const refused = await post(body);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json())).toContain(message);
});

it('exits with code 0 after SIGTERM and never misses Redis on the way', async () => {
  sample.kill('SIGTERM');
  await until('the sample app exits', () => sample.exitCode !== null || sample.signalCode !== null);
  expect({ code: sample.exitCode, signal: sample.signalCode }).toEqual({ code: 0, signal: null });
  expect(output).not.toContain('Redis cannot be reached');
  await expect(fetch(url)).rejects.toThrow();
});

function line(pattern: RegExp, deadlineMs?: number): Promise<RegExpMatchArray> {
  return until(
    `${pattern} in the output`,
    () => {
      if (sample.exitCode !== null)
        throw new Error(`The sample app has ended with code ${sample.exitCode}:\n${output}`);
      return output.match(pattern);
    },
    deadlineMs,
  );
}

function post(body: object): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

async function get(id?: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(id === undefined ? url : `${url}/${id}`);
  return { status: response.status, body: await response.json() };
}

async function remove(id: string): Promise<number> {
  return (await fetch(`${url}/${id}`, { method: 'DELETE' })).status;
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { type OwnRedisServer, startOwnServer } from '../support/redis-server.js';

let server: OwnRedisServer;

afterEach(() => server.stop());

it('nothing grows while a process schedules and handles a mix of jobs (the long form: npm run test:soak)', async () => {
  server = await startOwnServer();
  const args = ['--expose-gc', 'dist-test/soak.js', '--jobs', '50000'];
  const env = { ...process.env, REDIS: server.url, NODE_OPTIONS: '' };
  const run = promisify(execFile)(process.execPath, args, { env });
  const { code, stdout, stderr } = await run.then(
    (output) => ({ code: 0, ...output }),
    (error) => error as { code: number; stdout: string; stderr: string },
  );
  const summary = stdout.slice(stdout.indexOf('└')).split('\n').slice(1).join('\n');
  process.stdout.write(summary);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

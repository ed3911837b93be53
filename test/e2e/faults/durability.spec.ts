import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

it('every schedule that was answered is there after redis-server was killed twice in the midst of it', async () => {
  const args = ['dist-test/test/durability/main.js', '--jobs', '8000', '--kills', '2'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
  process.stdout.write(stdout);
  expect(stdout).toMatch(/killed 2 times: \d{3,} accepted, of which 0 are missing; \d+ refused, of which 0 are there/);
});

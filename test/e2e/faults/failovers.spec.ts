import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

it.each(['cluster', 'sentinel'])(
  'no job that minReplicas answered for is lost when a primary is killed: %s',
  async (kind) => {
    const args = ['dist-test/test/cluster/main.js', '--kind', kind, '--jobs', '3000', '--kills', '1'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } });
    process.stdout.write(stdout);
    expect(stdout).toMatch(/killed 1 times: 3000 accepted, of which 0 are missing/);
  },
);

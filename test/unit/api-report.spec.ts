import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// A change of the public types is seen in the diff of api-report, or it fails here. The build is up to date: the set-up of the tests sees to it.

it('api-report tells the public types of every entry point as they are, and each {@link} leads somewhere', async () => {
  const check = promisify(execFile)(process.execPath, ['scripts/api-report.mjs', '--check']);
  const { stderr } = await check.catch((error: { stderr: string }) => error);
  expect(stderr).toBe('');
}, 120_000);

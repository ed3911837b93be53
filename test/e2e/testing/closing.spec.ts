import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from '@jest/globals';

// Real processes: nothing that the test kit has opened keeps one alive. See test/processes/tester.ts.

/** Of these each process waits 5 s for a handler that hangs. */
const DEADLINE_MS = 40_000;
const WAYS = ['kit', 'override'].flatMap((how) => ['yes', 'no'].map((closes) => ({ how, closes })));
const said = new Map<string, Promise<unknown>>();

beforeAll(() => {
  for (const { how, closes } of WAYS) said.set(`${how} ${closes}`, tested({ HOW: how, CLOSES: closes }));
  return Promise.allSettled(said.values());
}, DEADLINE_MS + 10_000);

/** What the process says; fails if it does not end by itself. */
async function tested(env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['dist-test/tester.js'], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
  });
  return JSON.parse(stdout);
}

it.each(['kit', 'override'])('%s: after close nothing is left open, and the process ends by itself', async (how) => {
  expect(await said.get(`${how} yes`)).toEqual({
    ran: 7,
    hung: true,
    popped: 0,
    waited: 'waitFor: the application was closed.',
    left: [],
  });
});

it.each(['kit', 'override'])('%s: a test that forgets to close its application ends as well', async (how) => {
  expect(await said.get(`${how} no`)).toEqual({
    ran: 7,
    hung: true,
    waited: expect.stringContaining('as no call of the tester was under way for 4 s'),
    left: [],
  });
});

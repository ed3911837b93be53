import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as round, setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { SystemClock } from '../../../../lib/core/clock.js';
import { currentScheduledJob, outsideJobs, withCurrentJob } from '../../../../lib/core/job/current-job.js';
import type { ScheduledJob } from '../../../../lib/core/job/scheduled-job.js';

const job = (id: string) => ({ id }) as ScheduledJob;
const currentId = () => currentScheduledJob()?.id;

it('no job is current where no handler was ever tracked', () => {
  expect(currentScheduledJob()).toBeUndefined();
});

it('a job is current until its handler returns, and after whatever the handler awaits', async () => {
  const seen: unknown[] = [];
  const run = withCurrentJob(async () => {
    seen.push(currentId());
    await round();
    await sleep(1);
    seen.push(currentId());
    return 'result';
  });
  const ending = run(undefined, job('a'));
  expect(currentId()).toBeUndefined();
  expect(await ending).toBe('result');
  expect(currentId()).toBeUndefined();
  expect(seen).toEqual(['a', 'a']);
});

it('handlers that run at once see their own jobs, and get their payloads', async () => {
  const run = withCurrentJob(async (payload: string) => {
    await round();
    return `${payload}: ${currentId()}`;
  });
  const ends = await Promise.all(['a', 'b', 'c'].map((id) => run(id.toUpperCase(), job(id))));
  expect(ends).toEqual(['A: a', 'B: b', 'C: c']);
});

it('a handler sees the storages of others as they are where it is called, not as they were when it was registered', async () => {
  const trace = new AsyncLocalStorage<string>();
  const run = trace.run('bootstrap', () =>
    withCurrentJob(async () => {
      const before = trace.getStore();
      await round();
      return [before, trace.getStore(), currentId()];
    }),
  );
  expect(await trace.run('call', () => run(undefined, job('a')))).toEqual(['call', 'call', 'a']);
});

it('a run inside another one has its own job and gives the outer one back, also where it throws', () => {
  const inner = withCurrentJob(() => {
    throw new Error(`thrown in ${currentId()}`);
  });
  const outer = withCurrentJob(() => {
    expect(() => inner(undefined, job('inner'))).toThrow('thrown in inner');
    return currentId();
  });
  expect(outer(undefined, job('outer'))).toBe('outer');
  expect(currentId()).toBeUndefined();
});

it('no job is current any more where a handler threw', () => {
  const run = withCurrentJob(() => {
    throw new Error('no');
  });
  expect(() => run(undefined, job('a'))).toThrow('no');
  expect(currentId()).toBeUndefined();
});

it('what a handler begins for others is outside of its job, and the handler goes on inside', async () => {
  const run = withCurrentJob(async () => {
    const seen: unknown[] = [];
    outsideJobs(() => {
      seen.push(currentId());
      queueMicrotask(() => seen.push(currentId()));
    });
    seen.push(currentId());
    await round();
    return seen;
  });
  expect(await run(undefined, job('a'))).toEqual([undefined, 'a', undefined]);
});

it('the clock calls back outside of the job whose handler asked it to', async () => {
  const clock = new SystemClock();
  const run = withCurrentJob(async () => {
    const soon = new Promise((resolve) => clock.soon(() => resolve(currentId())));
    const after = new Promise((resolve) => clock.after(1, () => resolve(currentId())));
    return await Promise.all([soon, after]);
  });
  expect(await run(undefined, job('a'))).toEqual([undefined, undefined]);
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { settlement, TestStore } from '../support/store.js';

/** 9 September 2001. */
const PAST = 1e12;
const HOUR_MS = 3_600_000;

let test: TestStore;

beforeEach(() => {
  test = new TestStore();
});

afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

async function claimed(): Promise<ClaimedJob> {
  const [job] = await test.worker('w').claim();
  return job!;
}

describe('an instant in the past is kept', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['by schedule', () => test.schedule({ id: 'r7', due: { at: PAST } })],
    [
      'by a job that replaces another',
      async () => {
        await test.schedule({ id: 'r7', due: { delayMs: HOUR_MS } });
        await test.replace({ id: 'r7', due: { at: PAST } });
      },
    ],
    [
      'by reschedule',
      async () => {
        await test.schedule({ id: 'r7', due: { delayMs: HOUR_MS } });
        await test.jobs.reschedule('r7', { at: PAST });
      },
    ],
    [
      'by a job that snoozes',
      async () => {
        await test.schedule({ id: 'r7' });
        const { id, fence } = await claimed();
        await test.worker('w').settle({ id, fence, transition: 'snooze', due: { at: PAST } });
      },
    ],
    [
      'by replayDead',
      async () => {
        await test.schedule({ id: 'r7' });
        await test.worker('w').settle(settlement.dead(await claimed()));
        await test.management.replayDead('r7', { at: PAST });
      },
    ],
  ])('%s, and the job is due at once', async (_, act) => {
    await act();
    expect(await test.view.job('r7')).toMatchObject({ state: 'due', dueAtMs: PAST });
    expect(await claimed()).toMatchObject({ id: 'r7', dueAtMs: PAST });
  });

  it('and orders jobs: the one that was due first runs first, whichever was scheduled first', async () => {
    await test.schedule({ id: 'now' });
    await test.schedule({ id: 'later', due: { at: PAST + 1 } });
    await test.schedule({ id: 'first', due: { at: PAST } });
    const jobs = await test.worker('w').claim();
    expect(jobs.map(({ id }) => id)).toEqual(['first', 'later', 'now']);
  });

  it('and counts as late', async () => {
    await test.schedule({ id: 'r7', due: { at: PAST }, lateness: { maxLatenessMs: HOUR_MS, onLate: 'discard' } });
    expect((await test.worker('w').turn({ limit: 1 })).late).toMatchObject([{ id: 'r7', onLate: 'discard' }]);
  });

  it('while runNow means now', async () => {
    await test.schedule({ id: 'r7', due: { at: PAST } });
    const before = Date.now();
    await test.jobs.reschedule('r7', { delayMs: 0 });
    expect((await claimed()).dueAtMs).toBeGreaterThanOrEqual(before);
  });
});

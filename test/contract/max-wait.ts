import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob, NewJob, QueueStore, Settlement } from '../../lib/store/job-store.js';
import { payloads, settlement, type World } from './world.js';

const BOUND = 1_000;

/** Ways in which a job that has begun comes to wait again. */
const COMES_BACK: [name: string, end: (job: ClaimedJob) => Settlement][] = [
  ['failed', (job) => settlement.retry(job, 60_000)],
  ['snoozed', (job) => settlement.snooze(job, 60_000)],
  ['was put back', (job) => settlement.release(job)],
];

const TAKES_AWAY: [name: string, take: (queue: QueueStore) => Promise<boolean | number>][] = [
  ['cancelled', ({ jobs }) => jobs.cancel('x')],
  ['removed', ({ jobs }) => jobs.remove('x')],
  ['cancelled by its tag', ({ management }) => management.cancelTagged('t', () => {})],
  ['cleared', ({ management }) => management.clear()],
];

export const maxWait = (world: () => World): void => {
  /** A change as a debounce schedules it: due 300 ms later, and no later than `BOUND` after the first. */
  const change = (payload: string, job: Partial<NewJob> = {}) =>
    world().replace({ id: 'x', payload, due: { delayMs: 300 }, maxWaitMs: BOUND, tags: ['t'], ...job });
  const createdAt = async () => {
    const envelope = (await world().job('x'))?.envelope;
    return envelope && 'createdAtMs' in envelope ? envelope.createdAtMs : undefined;
  };
  const run = async () => {
    await world().schedule({ id: 'x', payload: 'run' });
    const worker = world().worker('w');
    return { worker, job: (await worker.claim())[0]! };
  };
  /** A further change 500 ms later, which tells since when its row lasts. */
  const rowOfNext = async (status: string) => {
    world().pass(500);
    const { dueAtMs, ...answer } = await change('next', { due: { delayMs: 60_000 } });
    expect(answer.status).toBe(status);
    return dueAtMs! - BOUND;
  };

  it.each([
    ['delay', { delayMs: 60_000 }],
    ['at', { at: 4_000_000_000_000 }],
  ])('a longer %s of the first of a row is cut', async (_, due) => {
    world().store();
    expect(await change('a', { due })).toMatchObject({ status: 'created', dueAtMs: world().now() + BOUND });
  });

  it('a job that is replaced again and again is due when the first of its row has waited for so long, as the last of them', async () => {
    world().store();
    const first = world().now();
    const due: number[] = [];
    for (let i = 0; i < 9; i++) {
      due.push((await change(String(i))).dueAtMs! - first);
      expect(await createdAt()).toBe(first);
      world().pass(100);
    }
    expect(due).toEqual([300, 400, 500, 600, 700, 800, 900, 1_000, 1_000]);
    world().pass(99);
    expect(await world().worker('w').claim()).toEqual([]);
    world().pass(1);
    expect(payloads(await world().worker('w').claim())).toEqual(['8']);
  });

  it('one that nobody has claimed by then stays due since then, and keeps its place', async () => {
    world().store();
    const first = world().now();
    await change('a');
    world().pass(5_000);
    expect((await change('b')).dueAtMs).toBe(first + BOUND);
    expect((await world().worker('w').claim())[0]).toMatchObject({ dueAtMs: first + BOUND });
  });

  it('the first of a row may have been scheduled without it', async () => {
    world().store();
    const first = world().now();
    await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
    expect(await rowOfNext('replaced')).toBe(first);
    expect(await createdAt()).toBe(first);
  });

  it('a replacement without it in the middle of a row waits for as long as it says, and ends no row', async () => {
    world().store();
    const first = world().now();
    await change('a');
    world().pass(500);
    expect((await change('b', { maxWaitMs: undefined, due: { delayMs: 5_000 } })).dueAtMs).toBe(first + 5_500);
    expect(await createdAt()).toBe(first);
    expect(await rowOfNext('replaced')).toBe(first);
  });

  it('0 makes a job due at once', async () => {
    world().store();
    expect((await change('a', { maxWaitMs: 0 })).dueAtMs).toBe(world().now());
  });

  it('the latest that was given counts', async () => {
    world().store();
    const first = world().now();
    await change('a', { maxWaitMs: 100 });
    expect((await change('b', { maxWaitMs: 200 })).dueAtMs).toBe(first + 200);
    expect((await change('c', { maxWaitMs: 150 })).dueAtMs).toBe(first + 150);
  });

  it('reschedule moves the job beyond it, and the next replacement back', async () => {
    const { jobs } = world().store();
    const first = world().now();
    await change('a');
    await jobs.reschedule('x', { delayMs: 60_000 });
    expect((await world().job('x'))?.dueAtMs).toBe(first + 60_000);
    expect(await rowOfNext('replaced')).toBe(first);
  });

  it.each(TAKES_AWAY)('a row ends where its job is %s', async (_, take) => {
    const queue = world().store();
    await change('a');
    await take(queue);
    expect(await rowOfNext('created')).toBe(world().now());
  });

  it.each(COMES_BACK)(
    'a row ends when its job begins: the job that replaces one that %s begins another',
    async (_, end) => {
      world().store();
      await change('a', { due: { delayMs: 0 } });
      const worker = world().worker('w');
      await worker.settle(end((await worker.claim())[0]!));
      expect(await rowOfNext('replaced')).toBe(world().now());
      const second = world().now();
      expect(await rowOfNext('replaced')).toBe(second);
    },
  );

  it('a row ends when its job begins, even if its worker dies', async () => {
    world().store({ maxCrashes: 5 });
    await change('a', { due: { delayMs: 0 } });
    await world().crash(1);
    expect(await rowOfNext('replaced')).toBe(world().now());
    const second = world().now();
    // It has the crash of the one before, and has not begun.
    expect(await rowOfNext('replaced')).toBe(second);
  });

  it('a dead job is of no row, be it replayed or not', async () => {
    const { management } = world().store();
    const { worker, job } = await run();
    await worker.settle(settlement.dead(job));
    await management.replayDead('x', { delayMs: 60_000 });
    expect(await rowOfNext('replaced')).toBe(world().now());
    world().pass(BOUND);
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    expect(await rowOfNext('created')).toBe(world().now());
  });

  it('another job, of another name, changes no row', async () => {
    world().store();
    const first = world().now();
    await change('a');
    world().pass(100);
    expect(await change('b', { name: 'other' })).toMatchObject({ status: 'taken', dueAtMs: first + 300 });
    expect(await rowOfNext('replaced')).toBe(first);
  });

  describe('behind a run', () => {
    it('a row begins with the first that is queued, whenever the run was scheduled', async () => {
      world().store();
      await run();
      world().pass(500);
      const first = world().now();
      expect(await change('a', { due: { delayMs: 60_000 } })).toMatchObject({
        status: 'queued',
        dueAtMs: first + BOUND,
      });
      expect(await rowOfNext('queued')).toBe(first);
      expect((await world().job('x'))?.queuedDueAtMs).toBe(first + BOUND);
    });

    it('it begins anew where the queued one was cancelled', async () => {
      const { jobs } = world().store();
      await run();
      await change('a');
      await jobs.cancel('x');
      expect(await rowOfNext('queued')).toBe(world().now());
    });

    it.each([
      ['completes', (job: ClaimedJob) => settlement.complete(job)],
      ['fails', (job: ClaimedJob) => settlement.retry(job, 60_000)],
      ['would be dead', (job: ClaimedJob) => settlement.dead(job)],
      ['is snoozed', (job: ClaimedJob) => settlement.snooze(job, 60_000)],
      ['is put back', (job: ClaimedJob) => settlement.release(job)],
    ])('it goes on where the run %s and the queued job waits in its place', async (_, end) => {
      world().store();
      const { worker, job } = await run();
      const first = world().now();
      await change('a', { due: { delayMs: 600 } });
      world().pass(100);
      await worker.settle(end(job));
      expect(await createdAt()).toBe(first);
      expect(await rowOfNext('replaced')).toBe(first);
      expect(await rowOfNext('replaced')).toBe(first);
      expect(payloads(await worker.claim())).toEqual(['next']);
    });

    it('it goes on where the worker of the run has died', async () => {
      world().store({ maxCrashes: 5 });
      await run();
      const first = world().now();
      await change('a');
      await world().outlive();
      expect(await rowOfNext('replaced')).toBe(first);
      expect(await rowOfNext('replaced')).toBe(first);
      expect(await world().job('x')).toMatchObject({ crashes: 1, dueAtMs: first + BOUND });
    });

    it('it ends when the job that took the place of the run begins', async () => {
      world().store();
      const { worker, job } = await run();
      await change('a', { due: { delayMs: 0 } });
      await worker.settle(settlement.complete(job));
      const [next] = await worker.claim();
      world().pass(200);
      await worker.settle(settlement.retry(next!, 60_000));
      expect(await rowOfNext('replaced')).toBe(world().now());
    });
  });
};

import { describe, expect, it } from '@jest/globals';
import type { NewJob, QueueStore } from '../../lib/store/job-store.js';
import { payloads, settlement, type World } from './world.js';

const APART = 1_000;

const TAKES_AWAY: [name: string, take: (queue: QueueStore) => Promise<boolean | number>][] = [
  ['cancelled', ({ jobs }) => jobs.cancel('x')],
  ['removed', ({ jobs }) => jobs.remove('x')],
  ['cancelled by its tag', ({ management }) => management.cancelTagged('t', () => {})],
  ['cleared', ({ management }) => management.clear()],
];

export const throttle = (world: () => World): void => {
  const change = (payload: string, job: Partial<NewJob> = {}) =>
    world().replace({ id: 'x', payload, throttleMs: APART, tags: ['t'], ...job });
  /** Takes the job of the id, if it is due, and completes it. */
  const work = async () => {
    const worker = world().worker('w');
    const claimed = await worker.claim();
    await worker.settle(...claimed.map((job) => settlement.complete(job)));
    return payloads(claimed);
  };

  it('the first change runs at once, and all that follow within the time run once, at its end, as the last of them', async () => {
    world().store();
    const first = world().now();
    expect(await change('a')).toMatchObject({ status: 'created', dueAtMs: first });
    expect(await work()).toEqual(['a']);
    world().pass(10);
    expect(await change('b')).toMatchObject({ status: 'created', dueAtMs: first + APART });
    for (const payload of ['c', 'd']) {
      world().pass(10);
      expect(await change(payload)).toMatchObject({ status: 'replaced', dueAtMs: first + APART });
    }
    world().pass(APART - 31);
    expect(await work()).toEqual([]);
    world().pass(1);
    expect(await work()).toEqual(['d']);
    expect((await change('e')).dueAtMs).toBe(first + 2 * APART);
  });

  it('due times are never closer than that at a hundred changes a second, and the last change runs', async () => {
    world().store();
    const worker = world().worker('w');
    const due: number[] = [];
    const ran: unknown[] = [];
    const work = async () => {
      const claimed = await worker.claim();
      ran.push(...payloads(claimed));
      if (claimed.length > 0) await worker.settle(...claimed.map((job) => settlement.complete(job)));
    };
    for (let i = 0; i < 250; i++) {
      const { status, dueAtMs } = await change(String(i));
      if (status === 'created') due.push(dueAtMs!);
      await work();
      world().pass(10);
    }
    world().pass(APART);
    await work();
    expect(due.map((at) => at - due[0]!)).toEqual([0, APART, 2 * APART, 3 * APART]);
    expect(ran).toEqual(['0', '100', '200', '249']);
  });

  it('a new job is due at its own time where that is later', async () => {
    world().store();
    await change('a');
    await work();
    expect((await change('b', { due: { delayMs: 5_000 } })).dueAtMs).toBe(world().now() + 5_000);
  });

  it.each([
    ['an earlier delay', { delayMs: 0 }],
    ['a later delay', { delayMs: 60_000 }],
    ['an at', { at: 4_000_000_000_000 }],
  ])('a job that replaces a waiting one keeps its due time, whatever %s says', async (_, due) => {
    world().store();
    const { dueAtMs } = await change('a', { due: { delayMs: 500 } });
    expect(await change('b', { due })).toMatchObject({ status: 'replaced', dueAtMs });
    world().pass(500);
    expect(await work()).toEqual(['b']);
  });

  it('so does one that replaces a job that was scheduled without it, or waits for its next attempt', async () => {
    world().store();
    await world().schedule({ id: 'x' });
    const worker = world().worker('w');
    await worker.settle(settlement.retry((await worker.claim())[0]!, 7_000));
    expect((await change('b')).dueAtMs).toBe(world().now() + 7_000);
    expect(await world().job('x')).toMatchObject({ attempts: 0, dueAtMs: world().now() + 7_000 });
  });

  it.each(TAKES_AWAY)('a job that was %s gives no time back', async (_, take) => {
    const queue = world().store();
    const { dueAtMs } = await change('a', { due: { delayMs: 500 } });
    await take(queue);
    expect(await change('b')).toMatchObject({ status: 'created', dueAtMs: dueAtMs! + APART });
  });

  it('reschedule moves the job, and not the time of the next one', async () => {
    const { jobs } = world().store();
    const { dueAtMs } = await change('a', { due: { delayMs: 500 } });
    await jobs.reschedule('x', { delayMs: 0 });
    expect(await work()).toEqual(['a']);
    expect((await change('b')).dueAtMs).toBe(dueAtMs! + APART);
    await jobs.reschedule('x', { delayMs: 60_000 });
    expect((await change('c')).dueAtMs).toBe(world().now() + 60_000);
  });

  it('how far apart they are says the earlier one', async () => {
    world().store();
    const first = world().now();
    await change('a', { throttleMs: 5_000 });
    await work();
    expect((await change('b', { throttleMs: 10 })).dueAtMs).toBe(first + 5_000);
    world().pass(5_000);
    await work();
    expect((await change('c')).dueAtMs).toBe(first + 5_010);
  });

  it('a call without it is not held back, and counts for nothing', async () => {
    world().store();
    const first = world().now();
    await change('a');
    await work();
    expect(await world().replace({ id: 'x' })).toMatchObject({ status: 'created', dueAtMs: first });
    await work();
    world().pass(APART);
    await world().replace({ id: 'x' });
    await work();
    expect((await change('b')).dueAtMs).toBe(first + APART);
    expect((await world().replace({ id: 'x', due: { delayMs: 5 } })).dueAtMs).toBe(first + APART + 5);
  });

  it('0 holds nothing back, but lets a waiting job keep its due time', async () => {
    world().store();
    await change('a', { throttleMs: 0 });
    await work();
    expect((await change('b', { throttleMs: 0 })).dueAtMs).toBe(world().now());
    await change('c', { id: 'y', throttleMs: 0, due: { delayMs: 50 } });
    expect((await change('d', { id: 'y', throttleMs: 0 })).dueAtMs).toBe(world().now() + 50);
  });

  it('jobs whose at lies in the past are as far apart', async () => {
    world().store();
    const at = world().now() - 5_000;
    expect((await change('a', { due: { at } })).dueAtMs).toBe(at);
    await work();
    expect((await change('b', { due: { at: at - 1 } })).dueAtMs).toBe(at + APART);
  });

  it('a dead job that is pushed out has counted as any other', async () => {
    world().store();
    const first = world().now();
    await change('a');
    const worker = world().worker('w');
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    expect(await change('b')).toMatchObject({ status: 'created', pushedOut: true, dueAtMs: first + APART });
  });

  it('ids are throttled each by itself, and a job of another name holds nothing back', async () => {
    world().store();
    await change('a');
    await work();
    expect((await change('b', { id: 'y' })).dueAtMs).toBe(world().now());
    expect(await change('c', { id: 'y', name: 'other', due: { delayMs: 9_000 } })).toMatchObject({ status: 'taken' });
    await work();
    expect((await change('d', { id: 'y' })).dueAtMs).toBe(world().now() + APART);
  });

  it('a remembered id of an ended job has no part in it', async () => {
    world().store({ keepIdsMs: 60_000 });
    const first = world().now();
    await change('a');
    const worker = world().worker('w');
    await worker.settle(settlement.completeChosen((await worker.claim())[0]!));
    expect((await change('b')).dueAtMs).toBe(first + APART);
  });

  describe('behind a run', () => {
    it('the first that is queued is a new one, and those that replace it keep its due time', async () => {
      world().store();
      const first = world().now();
      await change('a');
      const worker = world().worker('w');
      const [job] = await worker.claim();
      world().pass(10);
      for (const payload of ['b', 'c'])
        expect(await change(payload)).toMatchObject({ status: 'queued', dueAtMs: first + APART });
      await worker.settle(settlement.complete(job!));
      expect(await change('d')).toMatchObject({ status: 'replaced', dueAtMs: first + APART });
      world().pass(APART);
      expect(await work()).toEqual(['d']);
      expect((await change('e')).dueAtMs).toBe(first + 2 * APART);
    });

    it('one that replaces the queued one does not say how far apart they are', async () => {
      world().store();
      const first = world().now();
      await change('a');
      const worker = world().worker('w');
      const [job] = await worker.claim();
      await change('b');
      await change('c', { throttleMs: 5_000 });
      await worker.settle(settlement.complete(job!));
      await change('d', { throttleMs: 5_000 });
      world().pass(APART);
      expect(await work()).toEqual(['d']);
      expect((await change('e')).dueAtMs).toBe(first + 2 * APART);
    });

    it('one that is cancelled gives no time back', async () => {
      const { jobs } = world().store();
      const first = world().now();
      await change('a');
      await world().worker('w').claim();
      await change('b');
      await jobs.cancel('x');
      expect(await change('c')).toMatchObject({ status: 'queued', dueAtMs: first + 2 * APART });
    });

    it('a job without it is queued for its own time, and one with it takes that over', async () => {
      world().store();
      await change('a');
      await world().worker('w').claim();
      expect((await world().replace({ id: 'x', due: { delayMs: 20 } })).dueAtMs).toBe(world().now() + 20);
      expect((await change('c')).dueAtMs).toBe(world().now() + 20);
    });
  });
};

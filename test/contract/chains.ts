import { beforeEach, describe, expect, it } from '@jest/globals';
import { nextJob } from '../../lib/core/job/chain.js';
import type { StoredChain, StoredStep } from '../../lib/core/job/new-job.js';
import type { ClaimedJob, Envelope, NextJob, Settlement } from '../../lib/store/job-store.js';
import { ids, type newJob, settlement, type World } from './world.js';

const step = (name: string, more: Partial<StoredStep> = {}): StoredStep => ({
  name,
  priority: 5,
  settings: {},
  delayMs: 0,
  payload: `"${name}"`,
  ...more,
});

const chainOf = (...next: StoredStep[]) => ({
  step: 1,
  of: next.length + 1,
  steps: next.map((each) => JSON.stringify(each)),
});

/** How a worker completes a job whose chain goes on. */
function goingOn(job: ClaimedJob, id: string, more: { result?: string; idWasChosen?: boolean } = {}): Settlement {
  const { chain, set } = job.envelope as Envelope;
  const { next: step } = chain as StoredChain;
  const next: NextJob = {
    ...nextJob(chain as StoredChain, step as StoredStep, { id: job.id, set, result: more.result }),
    id,
  };
  return { id: job.id, fence: job.fence, transition: 'complete', idWasChosen: more.idWasChosen ?? false, next };
}

export const chains = (world: () => World): void => {
  const worker = (id = 'w') => world().worker(id, 'work', 'second', 'third');
  const schedule = (more: Partial<ReturnType<typeof newJob>> = {}) =>
    world().schedule({ id: 'first', chain: chainOf(step('second'), step('third')), ...more });

  describe('a chain', () => {
    beforeEach(() => {
      world().store();
    });

    it('goes on with the next job when a job completes, with what that has returned', async () => {
      await schedule();
      const session = worker();
      const [first] = await session.claim();
      expect(first!.envelope).toMatchObject({ chain: { step: 1, of: 3 } });
      expect(await session.settle(goingOn(first!, 'b', { result: '{"n":1}' }))).toEqual(['counted']);
      const [second] = await session.claim();
      expect(second).toMatchObject({
        id: 'b',
        attempt: 1,
        envelope: {
          name: 'second',
          payload: '"second"',
          createdAtMs: world().now(),
          chain: { id: 'first', step: 2, of: 3, result: { n: 1 }, next: { name: 'third' }, later: [] },
        },
      });
      await session.settle(goingOn(second!, 'c'));
      const [third] = await session.claim();
      expect(third).toMatchObject({ id: 'c', envelope: { chain: { id: 'first', step: 3, of: 3, later: [] } } });
      expect((third!.envelope as Envelope).chain).not.toHaveProperty('result');
      expect(await session.settle(settlement.complete(third!))).toEqual(['counted']);
      expect(await world().queue.view.counts()).toMatchObject({ scheduled: 0, due: 0, active: 0 });
      expect(await world().queue.view.stats()).toMatchObject({ scheduled: 3, completed: 3 });
    });

    it('goes on after a while, with tags, a group and bytes of a codec', async () => {
      const bytes = Buffer.from([0, 10, 9, 255, 31]);
      const next = step('second', {
        delayMs: 5_000,
        group: 'g',
        tags: ['a'],
        codec: 'x',
        payload: bytes.toString('base64'),
        encoding: 'base64',
      });
      await schedule({ chain: chainOf(next) });
      const session = worker();
      const [first] = await session.claim();
      await session.settle(goingOn(first!, 'b'));
      expect(await session.claim()).toEqual([]);
      world().pass(5_000);
      const [second] = await session.claim();
      expect(second).toMatchObject({ id: 'b', envelope: { group: 'g', tags: ['a'], codec: 'x' } });
      expect(Buffer.from((second!.envelope as Envelope).payload as Uint8Array)).toEqual(bytes);
      await session.settle(settlement.complete(second!));
      expect(await world().queue.management.cancelTagged('a', () => {})).toBe(0);
    });

    it('does not go on where the lease was lost, and once where two have completed the job', async () => {
      await schedule();
      const [lost] = await worker('gone').claim();
      await world().outlive();
      const session = worker();
      const [again] = await session.claim();
      expect(await worker('gone').settle(goingOn(lost!, 'b'))).toEqual(['lost']);
      expect(await session.settle(goingOn(again!, 'c'))).toEqual(['counted']);
      expect(await session.settle(goingOn(again!, 'd'))).toEqual(['lost']);
      expect(ids(await world().queue.view.list('due', 0, 10))).toEqual(['c']);
    });

    it('waits and dies with its job, and is replayed with it', async () => {
      await schedule();
      const session = worker();
      await session.settle(settlement.retry((await session.claim())[0]!));
      await session.settle(settlement.dead((await session.claim())[0]!));
      await world().queue.management.replayDead('first', { delayMs: 0 });
      const [job] = await session.claim();
      expect(job!.envelope).toMatchObject({
        chain: { next: { name: 'second' }, later: [expect.stringContaining('third')] },
      });
    });

    it.each<[string, (job: ClaimedJob) => Settlement]>([
      ['discarded', (job) => settlement.discard(job)],
      ['cancelled', settlement.cancel],
    ])('ends with a job that is %s', async (_, how) => {
      await schedule();
      const session = worker();
      await session.settle(how((await session.claim())[0]!));
      expect(await world().queue.view.counts()).toMatchObject({ scheduled: 0, due: 0, active: 0, dead: 0 });
    });

    it('ends with a job that somebody wants cancelled, though it completes', async () => {
      await schedule();
      const session = worker();
      const [job] = await session.claim();
      await world().queue.jobs.cancelRunning('first');
      expect(await session.settle(goingOn(job!, 'b'))).toEqual(['cancelled']);
      expect(await world().job('b')).toBeUndefined();
    });

    it('goes on beside a job that was queued behind its own', async () => {
      await schedule();
      const session = worker();
      const [job] = await session.claim();
      await world().replace({ id: 'first', due: { delayMs: 60_000 } });
      expect(await session.settle(goingOn(job!, 'b'))).toEqual(['replaced']);
      expect(ids(await world().queue.view.list('due', 0, 10))).toEqual(['b']);
      expect(await world().job('first')).toMatchObject({ state: 'scheduled' });
    });

    it('of a member of a set keeps the set pending from step to step', async () => {
      await world().queue.sets.open('s', undefined);
      await schedule({ set: 's' });
      await world().queue.sets.close('s');
      const session = worker();
      const [first] = await session.claim();
      await session.settle(goingOn(first!, 'b'));
      expect(await world().queue.sets.read('s')).toMatchObject({ state: 'closed', total: 2, pending: 1, completed: 1 });
      const [second] = await session.claim();
      expect(second!.envelope).toMatchObject({ set: 's' });
      await session.settle(goingOn(second!, 'c'));
      const [third] = await session.claim();
      await session.settle(settlement.complete(third!));
      expect(await world().queue.sets.read('s')).toMatchObject({ state: 'done', total: 3, completed: 3 });
    });

    it('of a member behind which another member is queued keeps the set pending', async () => {
      await world().queue.sets.open('s', undefined);
      await schedule({ set: 's' });
      await world().queue.sets.close('s');
      const session = worker();
      const [first] = await session.claim();
      await world().replace({ id: 'first', set: 's' });
      expect(await session.settle(goingOn(first!, 'b'))).toEqual(['replaced']);
      const [one, other] = await session.claim();
      expect(await world().queue.sets.read('s')).toMatchObject({ state: 'closed', pending: 2 });
      for (const job of [one, other]) await session.settle(settlement.complete(job!));
      expect(await world().queue.sets.read('s')).toMatchObject({ state: 'done', total: 2, completed: 2 });
    });

    it('keeps a chosen id of its first job remembered', async () => {
      await schedule();
      const session = worker();
      const [job] = await session.claim();
      await session.settle(goingOn(job!, 'b', { idWasChosen: true }));
      expect(await schedule()).toMatchObject({ status: 'ended' });
    });
  });
};

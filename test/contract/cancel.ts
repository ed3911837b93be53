import { describe, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { ids, settlement, type World } from './world.js';

const ENDS: [string, (job: ClaimedJob) => Settlement][] = [
  ['completes', (job) => settlement.complete(job)],
  ['completes under a chosen id', (job) => settlement.completeChosen(job)],
  ['would be tried again', (job) => settlement.retry(job, 0)],
  ['would be dead', (job) => settlement.dead(job)],
  ['is snoozed', (job) => settlement.snooze(job, 0)],
  ['is discarded', (job) => settlement.discard(job)],
  ['goes back', (job) => settlement.release(job)],
  ['is extended', (job) => settlement.extend(job, 60_000)],
  ['is cancelled', (job) => settlement.cancel(job)],
];

export const cancel = (world: () => World): void => {
  it('true is final: the job never starts, and counts as cancelled', async () => {
    const { jobs, view } = world().store();
    const { id } = await world().schedule();
    expect(await jobs.cancel(id)).toBe(true);
    expect(await world().worker('w').claim()).toEqual([]);
    expect(await world().job(id)).toBeUndefined();
    expect(await view.stats()).toEqual({ scheduled: 1, cancelled: 1 });
  });

  it('a running, dead, ended or unknown job answers false', async () => {
    const { jobs } = world().store();
    const worker = world().worker('w');
    const { id } = await world().schedule();
    const [job] = await worker.claim();
    expect(await jobs.cancel(id)).toBe(false);
    await worker.settle(settlement.dead(job!));
    expect(await jobs.cancel(id)).toBe(false);
    expect(await jobs.cancel('unknown')).toBe(false);
  });

  it('a job that waits for its next attempt can be cancelled too, and leaves no history', async () => {
    const { jobs } = world().store();
    const worker = world().worker('w');
    await world().schedule({ id: 'x' });
    await worker.settle(settlement.retry((await worker.claim())[0]!, 1_000));
    expect(await jobs.cancel('x')).toBe(true);
    await world().schedule({ id: 'x' });
    expect(await world().job('x')).toMatchObject({ attempts: 0, failures: [] });
  });

  it('against a claim at the same moment, exactly one of both wins', async () => {
    const { jobs } = world().store();
    for (let i = 0; i < 10; i++) {
      const { id } = await world().schedule();
      const [claimed, cancelled] = await Promise.all([world().worker('w').claim(), jobs.cancel(id)]);
      expect(ids(claimed).includes(id)).toBe(!cancelled);
    }
  });

  describe('a running job that is to be cancelled ends as cancelled when it', () => {
    it.each(ENDS)('%s', async (_, end) => {
      const { jobs, view } = world().store({ keepCompleted: 5 });
      const worker = world().worker('w');
      await world().schedule({ id: 'x' });
      const [job] = await worker.claim();
      expect(await jobs.cancelRunning('x')).toBe(true);
      expect(await worker.settle(end(job!))).toEqual(['cancelled']);
      expect(await world().job('x')).toBeUndefined();
      expect(await view.stats()).toEqual({ scheduled: 1, started: 1, cancelled: 1 });
      expect((await world().schedule({ id: 'x' })).status).toBe('created');
    });
  });

  it('is told to its holder by a hint, and with each renewal, and is held until it ends', async () => {
    const { jobs } = world().store();
    const worker = await world().worker('w').listens();
    const { id } = await world().schedule();
    const [job] = await worker.claim();
    expect((await worker.turn({ renewals: [job!] })).toCancel).toEqual([]);
    await jobs.cancelRunning(id);
    for (let i = 0; i < 2; i++)
      expect(await worker.turn({ renewals: [job!] })).toMatchObject({ toCancel: [id], lost: [] });
    expect(await world().job(id)).toMatchObject({ state: 'active', cancelRequested: true });
  });

  it('ends as cancelled when its worker dies with it', async () => {
    const { jobs, view } = world().store();
    const { id } = await world().schedule();
    await world().worker('dies').claim();
    await jobs.cancelRunning(id);
    const recovered = (await world().outlive()).flatMap((answer) => answer.recovered);
    expect(recovered).toEqual([{ id, name: 'work', attempt: 1, fate: 'cancelled', worker: 'dies' }]);
    expect(await view.stats()).toMatchObject({ cancelled: 1, recovered: 1 });
    expect(await world().job(id)).toBeUndefined();
  });

  it('may be asked for twice', async () => {
    const { jobs } = world().store();
    const { id } = await world().schedule();
    await world().worker('w').claim();
    expect(await jobs.cancelRunning(id)).toBe(true);
    expect(await jobs.cancelRunning(id)).toBe(true);
  });

  it('asking for a job to be cancelled that does not run answers false and changes nothing', async () => {
    const { jobs } = world().store();
    const worker = world().worker('w');
    const { id } = await world().schedule();
    expect(await jobs.cancelRunning(id)).toBe(false);
    await worker.settle(settlement.retry((await worker.claim())[0]!, 0));
    expect(await jobs.cancelRunning(id)).toBe(false);
    await worker.settle(settlement.dead((await worker.claim())[0]!));
    expect(await jobs.cancelRunning(id)).toBe(false);
    expect(await jobs.cancelRunning('unknown')).toBe(false);
    expect((await world().job(id))?.state).toBe('dead');
  });

  it('an outdated holder is told that its lease is lost, though the job of the new one is to be cancelled', async () => {
    const { jobs } = world().store();
    const { id } = await world().schedule();
    const dies = world().worker('dies');
    const [old] = await dies.claim();
    await world().outlive();
    await world().worker('w2').claim();
    await jobs.cancelRunning(id);
    expect(await dies.turn({ renewals: [old!], settlements: [settlement.complete(old!)] })).toMatchObject({
      lost: [id],
      toCancel: [],
      settled: ['lost'],
    });
    expect((await world().job(id))?.state).toBe('active');
  });

  describe('remove', () => {
    it.each<[string, ((job: ClaimedJob) => Settlement) | undefined, number]>([
      ['before its due time', undefined, 60_000],
      ['when it is due', undefined, 0],
      ['between two attempts', (job) => settlement.retry(job, 60_000), 0],
      ['after a snooze', (job) => settlement.snooze(job, 60_000), 0],
    ])('deletes a waiting job %s, as cancelled, and frees its id', async (_, settle, delayMs) => {
      const { jobs, view } = world().store();
      await world().schedule({ id: 'x', due: { delayMs } });
      const worker = world().worker('w');
      if (settle) await worker.settle(settle((await worker.claim())[0]!));
      expect(await jobs.remove('x')).toBe(true);
      expect(await world().job('x')).toBeUndefined();
      expect(await view.stats()).toMatchObject({ scheduled: 1, cancelled: 1 });
      expect((await world().schedule({ id: 'x' })).status).toBe('created');
      expect(await jobs.remove('x')).toBe(true);
      expect(await jobs.remove('x')).toBe(false);
    });

    it('brings the job behind it to the front', async () => {
      const { jobs, view } = world().store();
      await world().schedule({ id: 'first', due: { delayMs: 60_000 } });
      const second = await world().schedule({ due: { delayMs: 120_000 } });
      await jobs.remove('first');
      expect((await view.nextDue()).dueAtMs).toBe(second.dueAtMs);
    });

    it('deletes a dead job, as deadDropped, and no other, and frees its id', async () => {
      const { jobs, view } = world().store();
      const worker = world().worker('w');
      await world().scheduleAll([{ id: 'a' }, { id: 'b' }]);
      await worker.settle(...(await worker.claim()).map((job) => settlement.dead(job, { idWasChosen: true })));
      expect(await jobs.remove('a')).toBe(true);
      expect(ids(await view.list('dead', 0, 10))).toEqual(['b']);
      expect((await view.stats()).deadDropped).toBe(1);
      expect((await world().schedule({ id: 'a' })).status).toBe('created');
    });

    it('deletes a completed job that is kept, counts nothing, and frees its id', async () => {
      const { jobs, view } = world().store({ keepCompleted: 5 });
      const worker = world().worker('w');
      await world().schedule({ id: 'a' });
      await worker.settle(settlement.completeChosen((await worker.claim())[0]!));
      const before = await view.stats();
      expect(await jobs.remove('a')).toBe(true);
      expect(await view.stats()).toEqual(before);
      expect((await world().schedule({ id: 'a' })).status).toBe('created');
    });

    it('leaves a running job alone, and answers false for it and for one that is not there', async () => {
      const { jobs } = world().store();
      const { id } = await world().schedule();
      await world().worker('w').claim();
      expect(await jobs.remove(id)).toBe(false);
      expect(await jobs.remove('unknown')).toBe(false);
      expect((await world().job(id))?.state).toBe('active');
    });
  });

  describe('clear', () => {
    it('deletes what waits, whatever it waits for, and leaves what runs, is dead or completed', async () => {
      const { management, view } = world().store({ keepCompleted: 5, maxCrashes: 2 });
      const worker = world().worker('w');
      await world().schedule({ payload: 'crashed' });
      await world().crash(1);
      await world().scheduleAll([{}, {}, {}, {}]);
      const [runs, completes, dies, retried] = await worker.turn({ limit: 4 }).then(({ claimed }) => claimed);
      await worker.settle(settlement.complete(completes!), settlement.dead(dies!), settlement.retry(retried!, 60_000));
      await world().scheduleAll([{}, { due: { delayMs: 5_000 } }, { worker: 'v' }, { name: 'other', priority: 1 }]);
      expect(await management.clear()).toBe(6);
      expect(await view.counts()).toEqual({ scheduled: 0, due: 0, active: 1, completed: 1, dead: 1 });
      expect((await world().job(runs!.id))?.state).toBe('active');
      expect((await view.stats()).cancelled).toBe(6);
      expect(await management.clear()).toBe(0);
    });

    it('deletes every job of hundreds of names', async () => {
      const { management, view } = world().store();
      await world().scheduleAll(
        Array.from({ length: 1_200 }, (_, i) => ({ name: `n${i % 400}`, priority: 1 + (i % 5) })),
      );
      expect(await management.clear()).toBe(1_200);
      expect((await view.nextDue()).dueAtMs).toBeUndefined();
    });
  });
};

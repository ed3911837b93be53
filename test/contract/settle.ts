import { describe, expect, it } from '@jest/globals';
import { ids, settlement, type TestSession, type World } from './world.js';

export const settle = (world: () => World): void => {
  let worker: TestSession;
  const claimOne = async (job = {}) => {
    worker = world().worker('w');
    await world().schedule(job);
    return (await worker.claim())[0]!;
  };

  it('complete leaves nothing of the job behind', async () => {
    const { view } = world().store();
    const job = await claimOne();
    expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
    expect(await world().job(job.id)).toBeUndefined();
    expect(await view.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 0 });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, completed: 1 });
  });

  it('complete keeps the result where the queue keeps completed jobs', async () => {
    world().store({ keepCompleted: 5 });
    const job = await claimOne({ id: 'x', payload: '"p"' });
    world().pass(40);
    await worker.settle(settlement.complete(job, '{"ok":true}'));
    expect(await world().job('x')).toMatchObject({
      state: 'completed',
      result: '{"ok":true}',
      attempts: 1,
      dueAtMs: job.dueAtMs,
      endedAtMs: world().now(),
      crashes: 0,
      failures: [],
      envelope: { payload: '"p"', name: 'work' },
    });
  });

  it('retry puts the job back for later, with what went wrong', async () => {
    const { view } = world().store();
    const job = await claimOne();
    await worker.settle(settlement.retry(job, 5_000, 'went wrong'));
    expect(await world().job(job.id)).toMatchObject({
      state: 'scheduled',
      dueAtMs: world().now() + 5_000,
      attempts: 1,
      failures: [{ name: 'Error', message: 'went wrong', attempt: 1, atMs: world().now() }],
    });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, failed: 1, retried: 1 });
    world().pass(5_000);
    expect((await worker.claim())[0]).toMatchObject({ id: job.id, attempt: 2, dueAtMs: world().now() });
  });

  it("dead keeps the job with its reason, and out of everybody's reach", async () => {
    const { view } = world().store();
    const job = await claimOne();
    await worker.settle(settlement.dead(job));
    expect(await world().job(job.id)).toMatchObject({
      state: 'dead',
      endedAtMs: world().now(),
      dueAtMs: job.dueAtMs,
      attempts: 1,
      failures: [{ reason: 'attempts-exhausted', attempt: 1 }],
    });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, failed: 1, dead: 1 });
    world().pass(3_600_000);
    expect(await worker.claim()).toEqual([]);
  });

  it('dead of an attempt that never began counts neither the attempt nor a failure', async () => {
    const { view } = world().store();
    const job = await claimOne();
    await worker.settle(settlement.dead(job, { ran: false, failed: false }));
    expect(await world().job(job.id)).toMatchObject({ state: 'dead', attempts: 0, failures: [{ attempt: 0 }] });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, dead: 1 });
  });

  it('snooze puts the job back for later, and takes the attempt back', async () => {
    const { view } = world().store();
    const job = await claimOne();
    await worker.settle(settlement.snooze(job, 5_000));
    expect(await world().job(job.id)).toMatchObject({
      state: 'scheduled',
      dueAtMs: world().now() + 5_000,
      attempts: 0,
    });
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, snoozed: 1 });
  });

  it('snooze until an instant', async () => {
    world().store();
    const job = await claimOne();
    const at = world().now() + 77_000;
    await worker.settle({ id: job.id, fence: job.fence, transition: 'snooze', due: { at } });
    expect((await world().job(job.id))?.dueAtMs).toBe(at);
  });

  it('discard ends the job', async () => {
    const { view } = world().store();
    const job = await claimOne();
    await worker.settle(settlement.discard(job));
    expect(await world().job(job.id)).toBeUndefined();
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, discarded: 1 });
  });

  it('cancel ends the job, and frees its id', async () => {
    const { view } = world().store();
    const job = await claimOne({ id: 'x' });
    await worker.settle(settlement.cancel(job));
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, cancelled: 1 });
    expect((await world().schedule({ id: 'x' })).status).toBe('created');
  });

  it('release puts the job back where it was, and takes the attempt back', async () => {
    const { view } = world().store();
    const job = await claimOne({ payload: 'first' });
    await world().schedule({ payload: 'second' });
    world().pass(1_000);
    await worker.settle(settlement.release(job));
    expect(await world().job(job.id)).toMatchObject({ state: 'due', dueAtMs: job.dueAtMs, attempts: 0 });
    expect((await worker.claim())[0]).toMatchObject({ id: job.id, attempt: 1 });
    expect(await view.stats()).toEqual({ scheduled: 2, started: 3 });
  });

  it("counts only where the fence is still the job's", async () => {
    world().store();
    const job = await claimOne();
    expect(await worker.settle(settlement.complete({ ...job, fence: '1' }))).toEqual(['lost']);
    expect(await worker.settle(settlement.complete({ ...job, id: 'unknown' }))).toEqual(['lost']);
    expect((await world().job(job.id))?.state).toBe('active');
    expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
    expect(await worker.settle(settlement.complete(job))).toEqual(['lost']);
  });

  it('answers in the order of the settlements, whatever their kinds', async () => {
    world().store();
    await world().scheduleAll([{}, {}, {}, {}]);
    const w = world().worker('w');
    const [a, b, c, d] = await w.claim();
    expect(
      await w.settle(
        settlement.retry(a!),
        settlement.complete({ ...b!, fence: '1' }),
        settlement.complete(c!),
        settlement.completeChosen(d!),
        settlement.release({ ...a!, fence: '2' }),
      ),
    ).toEqual(['counted', 'lost', 'counted', 'counted', 'lost']);
  });

  it('ends of jobs from several claims count in one turn, each under its own fence', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, {}, {}]);
    const w = world().worker('w');
    const held = [...(await w.claim(1)), ...(await w.claim(1)), ...(await w.claim(1))];
    expect(await w.settle(...held.map((job) => settlement.complete(job)))).toEqual(['counted', 'counted', 'counted']);
    expect((await view.counts()).active).toBe(0);
  });

  it('an outdated worker cannot settle a job that waits again, or that another one holds', async () => {
    world().store();
    const job = await claimOne();
    await world().outlive();
    expect(await worker.settle(settlement.complete(job))).toEqual(['lost']);
    const [again] = await world().worker('w2').claim();
    expect(again).toMatchObject({ id: job.id, attempt: 2, crashes: 1 });
    expect(await worker.settle(settlement.complete(job))).toEqual(['lost']);
    expect((await world().job(job.id))?.state).toBe('active');
  });

  it('a lease that has run out and that nobody has recovered can still be settled', async () => {
    const { view } = world().store();
    const job = await claimOne();
    world().pass(world().settings.leaseMs + 1);
    expect(await worker.settle(settlement.complete(job))).toEqual(['counted']);
    expect(await view.stats()).toEqual({ scheduled: 1, started: 1, completed: 1 });
  });

  it('keeps twenty failed attempts at the most, the latest ones', async () => {
    world().store();
    await world().schedule({ id: 'x' });
    const w = world().worker('w');
    for (let attempt = 1; attempt <= 23; attempt++)
      await w.settle(settlement.retry((await w.claim())[0]!, 0, `failure ${attempt}`));
    const { failures } = (await world().job('x'))!;
    expect(failures).toHaveLength(20);
    expect(failures[0]).toMatchObject({ attempt: 4, message: 'failure 4' });
    expect(failures.at(-1)).toMatchObject({ attempt: 23 });
  });

  it('keeps all that a failure tells', async () => {
    world().store();
    const job = await claimOne();
    const failure = { name: 'TypeError', message: 'a\nb "c" 🎈', code: 'E1', cause: 'why', stack: 'at x\nat y' };
    await worker.settle({ id: job.id, fence: job.fence, transition: 'retry', delayMs: 0, failure });
    expect((await world().job(job.id))?.failures).toEqual([{ ...failure, attempt: 1, atMs: world().now() }]);
  });

  it('what is put back for an instant in the past goes before what is due later', async () => {
    world().store();
    const job = await claimOne();
    const later = await world().schedule({ due: { delayMs: 1 } });
    world().pass(10);
    await worker.settle(settlement.release(job));
    expect(ids(await worker.claim())).toEqual([job.id, later.id]);
  });

  describe('extend', () => {
    it('moves the end of one lease, and of no other', async () => {
      world().store();
      await world().scheduleAll([{}, {}]);
      const w = world().worker('w');
      const [a, b] = await w.claim();
      expect(await w.settle(settlement.extend(a!, 100_000))).toEqual(['counted']);
      expect((await world().job(a!.id))?.leaseUntilMs).toBe(world().now() + 100_000);
      expect((await world().job(b!.id))?.leaseUntilMs).toBe(world().now() + world().settings.leaseMs);
    });

    it('may bring the end of a lease nearer', async () => {
      world().store();
      const job = await claimOne();
      await worker.settle(settlement.extend(job, 1_000));
      expect((await world().job(job.id))?.leaseUntilMs).toBe(world().now() + 1_000);
    });

    it("counts only where the fence is still the job's", async () => {
      world().store();
      const job = await claimOne();
      expect(await worker.settle(settlement.extend({ ...job, fence: '1' }, 100_000))).toEqual(['lost']);
      expect((await world().job(job.id))?.leaseUntilMs).toBe(world().now() + world().settings.leaseMs);
    });

    it('holds a job whose lease is over, in the very turn that would recover it', async () => {
      world().store({ leaseMs: 9_000 });
      const job = await claimOne();
      await world().serve(8_999, world().worker('living', 'nothing'));
      world().pass(1);
      const { recovered, settled } = await worker.turn({ settlements: [settlement.extend(job, 9_000)] });
      expect({ recovered, settled }).toEqual({ recovered: [], settled: ['counted'] });
    });

    it.each([0, 1])(
      'together with the end of its job leaves no lease behind, whichever is said first (%i)',
      async (first) => {
        const { view } = world().store();
        const job = await claimOne();
        const said = [settlement.extend(job, 60_000), settlement.retry(job, 60_000)];
        expect(await worker.settle(said[first]!, said[1 - first]!)).toEqual(['counted', 'counted']);
        expect(await view.counts()).toMatchObject({ active: 0, scheduled: 1 });
      },
    );
  });
};

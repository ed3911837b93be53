import { expect, it } from '@jest/globals';
import { ids, payloads, settlement, type World } from './world.js';

export const claim = (world: () => World): void => {
  it('gives what is due, most urgent first, then by due time, then in schedule order', async () => {
    world().store();
    const at = world().now() - 1_000;
    await world().scheduleAll([
      { payload: 'late', priority: 9 },
      { payload: 'second', due: { at } },
      { payload: 'third', due: { at } },
      { payload: 'first', due: { at: at - 1 } },
      { payload: 'urgent', priority: 1 },
    ]);
    expect(payloads(await world().worker('w').claim())).toEqual(['urgent', 'first', 'second', 'third', 'late']);
  });

  it('is never early: a job is claimed at its millisecond and not before', async () => {
    world().store();
    await world().schedule({ due: { delayMs: 1_000 } });
    const worker = world().worker('w');
    world().pass(999);
    expect(await worker.claim()).toEqual([]);
    world().pass(1);
    expect(await worker.claim()).toHaveLength(1);
  });

  it('tells what the claim is made of', async () => {
    world().store();
    const { id, dueAtMs } = await world().schedule({ payload: '{"a":1}' });
    world().pass(250);
    const [job] = await world().worker('w').claim();
    expect(job).toMatchObject({ id, dueAtMs, claimedAtMs: world().now(), attempt: 1, crashes: 0 });
    expect(payloads([job!])).toEqual(['{"a":1}']);
    expect(await world().job(id)).toMatchObject({
      state: 'active',
      fence: job!.fence,
      worker: 'w',
      attempts: 1,
      leaseUntilMs: world().now() + world().settings.leaseMs,
      cancelRequested: false,
    });
  });

  it('gives each job to one worker only', async () => {
    world().store();
    await world().scheduleAll(Array.from({ length: 40 }, () => ({})));
    const claimed = await Promise.all(['a', 'b', 'c', 'd'].map((id) => world().worker(id).claim(15)));
    expect(new Set(claimed.flatMap(ids)).size).toBe(40);
    expect(claimed.flat()).toHaveLength(40);
  });

  it('takes no more than the limit, and none where it is 0', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, {}, {}]);
    const worker = world().worker('w');
    expect((await worker.turn({ limit: 0 })).claimed).toEqual([]);
    expect((await worker.turn({ limit: 2 })).claimed).toHaveLength(2);
    expect(await view.counts()).toMatchObject({ active: 2, due: 1 });
  });

  it('leaves names that nobody here handles, behind which others are found', async () => {
    world().store();
    await world().scheduleAll([{ name: 'strange', priority: 1 }, { name: 'strange' }, { payload: 'mine' }]);
    expect(payloads(await world().worker('w').claim())).toEqual(['mine']);
    expect(await world().worker('v', 'strange').claim()).toHaveLength(2);
  });

  it('finds a job behind thousands of names that it does not handle, in some turns', async () => {
    world().store();
    for (let i = 0; i < 5_000; i += 1_000)
      await world().scheduleAll(Array.from({ length: 1_000 }, (_, j) => ({ name: `strange-${i + j}` })));
    await world().schedule({ payload: 'mine' });
    const worker = world().worker('w');
    let found: string[] = [];
    for (let turns = 0; found.length === 0 && turns < 10; turns++)
      found = payloads((await worker.turn({ limit: 5 })).claimed) as string[];
    expect(found).toEqual(['mine']);
  });

  it('does not take more than fits into one answer, and looks again at once', async () => {
    world().store({ leaseMs: 60_000 });
    const large = 'x'.repeat(3 * 1024 * 1024);
    for (let i = 0; i < 4; i++) await world().schedule({ payload: large });
    const worker = world().worker('w');
    const first = await worker.turn({ limit: 10 });
    expect(first.claimed.length).toBeLessThan(4);
    expect(first).toMatchObject({ sleepMs: 0, isUnconfirmed: true });
    let claimed = first.claimed.length;
    while (claimed < 4) claimed += (await worker.turn({ limit: 10 })).claimed.length;
    expect(claimed).toBe(4);
  });

  it('counts attempts, and gives a growing fence each time', async () => {
    world().store();
    await world().schedule();
    const worker = world().worker('w');
    let last = 0;
    for (let attempt = 1; attempt <= 4; attempt++) {
      const [job] = await worker.claim();
      expect(job!.attempt).toBe(attempt);
      expect(Number(job!.fence)).toBeGreaterThan(last);
      last = Number(job!.fence);
      await worker.settle(settlement.retry(job!));
    }
  });

  it('the jobs of one claim share its fence, and those of two claims of one instant do not', async () => {
    world().store();
    await world().scheduleAll([{}, {}, {}]);
    const worker = world().worker('w');
    const first = await worker.claim(2);
    const second = await worker.claim(2);
    expect(new Set(first.map(({ fence }) => fence)).size).toBe(1);
    expect(Number(second[0]!.fence)).toBeGreaterThan(Number(first[0]!.fence));
  });

  it('counts what it starts', async () => {
    const { view } = world().store();
    await world().scheduleAll([{}, {}]);
    const worker = world().worker('w');
    await worker.settle(...(await worker.claim()).map((job) => settlement.release(job)));
    await worker.claim();
    expect(await view.stats()).toEqual({ scheduled: 2, started: 4 });
  });

  it('a turn does not claim what it puts back itself, and says to look again at once', async () => {
    world().store();
    await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect(await worker.turn({ settlements: [settlement.release(job!)], limit: 5 })).toMatchObject({
      claimed: [],
      sleepMs: 0,
    });
    expect(await worker.claim()).toHaveLength(1);
  });

  it('a turn settles and claims in one step', async () => {
    const { view } = world().store();
    await world().scheduleAll([{ payload: 'a' }, { payload: 'b' }]);
    const worker = world().worker('w');
    const claimed = await worker.claim(1);
    const answer = await worker.turn({ settlements: claimed.map((job) => settlement.complete(job)), limit: 1 });
    expect(answer.settled).toEqual(['counted']);
    expect(payloads(answer.claimed)).toEqual(['b']);
    expect(await view.stats()).toMatchObject({ completed: 1, started: 2 });
  });
};

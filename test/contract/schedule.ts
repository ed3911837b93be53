import { expect, it } from '@jest/globals';
import type { Due } from '../../lib/core/read/due.js';
import type { Envelope } from '../../lib/store/envelope.js';
import type { ClaimedJob } from '../../lib/store/job-store.js';
import { ids, newJob, payloads, settlement, type World } from './world.js';

export const schedule = (world: () => World): void => {
  it('a job without a due time is due at once, by the clock of the store', async () => {
    world().store();
    const { id, status, dueAtMs } = await world().schedule();
    expect({ status, dueAtMs }).toEqual({ status: 'created', dueAtMs: world().now() });
    expect((await world().job(id))?.state).toBe('due');
  });

  it('a delay counts from when the store takes the job in', async () => {
    world().store();
    const { id, dueAtMs } = await world().schedule({ due: { delayMs: 90_000 } });
    expect(dueAtMs).toBe(world().now() + 90_000);
    expect(await world().job(id)).toMatchObject({ state: 'scheduled', dueAtMs });
  });

  it('an instant is kept, also one in the past', async () => {
    world().store();
    const at = world().now() - 86_400_000;
    const { id, dueAtMs } = await world().schedule({ due: { at } });
    expect(dueAtMs).toBe(at);
    expect(await world().job(id)).toMatchObject({ state: 'due', dueAtMs: at });
  });

  it('a job keeps all that was said of it', async () => {
    world().store();
    const said = {
      name: 'a name: with colon',
      priority: 17,
      worker: 'w1',
      tags: ['red', 'two words'],
      settings: {
        maxAttempts: 3,
        timeoutMs: 1_000,
        backoff: { type: 'fixed', delayMs: 5 },
        headers: { a: 'b' },
      } as const,
      lateness: { maxLatenessMs: 60_000, onLate: 'discard' } as const,
      payload: 'line\nbreak\ttab "quote" ünï 🎈',
    };
    const { id } = await world().schedule(said);
    expect((await world().job(id))?.envelope).toMatchObject({
      ...said,
      createdAtMs: world().now(),
      idWasChosen: false,
    });
  });

  it('a payload that a codec has made comes back byte by byte, with the id of the codec', async () => {
    world().store();
    const bytes = Buffer.from([0xff, 0x00, 0x0a, 0xc3]);
    const { id } = await world().schedule({ codec: 'packed', payload: bytes });
    const read = (await world().job(id))!.envelope as Envelope;
    const [claimed] = await world().worker('w1').claim();
    for (const envelope of [read, claimed!.envelope as Envelope]) {
      expect(envelope.codec).toBe('packed');
      expect(Buffer.from(envelope.payload as Uint8Array)).toEqual(bytes);
    }
  });

  it('a new job has begun no attempt, and nobody holds it', async () => {
    world().store();
    const { id, dueAtMs } = await world().schedule();
    const { envelope: _, ...rest } = (await world().job(id))!;
    expect(rest).toEqual({ id, state: 'due', dueAtMs, attempts: 0, crashes: 0, failures: [], isSuspect: false });
  });

  it('ids that the store makes grow in the order of the calls', async () => {
    world().store();
    const made = ids(await world().scheduleAll(Array.from({ length: 300 }, () => ({}))));
    expect(new Set(made).size).toBe(300);
    expect([...made].sort()).toEqual(made);
  });

  it('many of one call are answered each, under their index', async () => {
    const { jobs } = world().store();
    await world().schedule({ id: 'known' });
    const answers: unknown[] = [];
    await jobs.scheduleMany(
      [newJob({ id: 'a', due: { delayMs: 5 } }), newJob({ id: 'known' }), newJob({ id: 'a' }), newJob()],
      (index, answer) => {
        answers[index] = answer?.status;
      },
    );
    expect(answers).toEqual(['created', 'waiting', 'waiting', 'created']);
  });

  it('many of none is done at once', async () => {
    const { jobs } = world().store();
    await jobs.scheduleMany([], () => {
      throw new Error('nobody is to be told');
    });
  });

  it('thousands of one moment are all there, in their order', async () => {
    const { view } = world().store();
    const jobs = Array.from({ length: 3_000 }, (_, i) => ({ payload: String(i) }));
    await world().scheduleAll(jobs);
    const listed = await view.list('due', 0, 5_000);
    expect(payloads(listed)).toEqual(jobs.map(({ payload }) => payload));
  });

  it.each(['made', 'chosen'])('jobs of one moment are each due at a time of their own, with %s ids', async (how) => {
    world().store();
    const at = world().now();
    const dues: Due[] = [{ at: at + 5_000 }, { delayMs: 0 }, { at: at - 86_400_000 }, { delayMs: 90_000 }];
    const given = dues.map((due, i) => newJob({ due, payload: `${i}`, ...(how === 'chosen' && { id: `id${i}` }) }));
    // Under an id that is taken the answer tells when the first is due.
    if (how === 'chosen') given.push(newJob({ id: 'id0', due: { delayMs: 7 } }));
    const answers = await world().scheduleAll(given);
    const expected = [at + 5_000, at, at - 86_400_000, at + 90_000];
    expect(answers.slice(0, 4).map(({ dueAtMs }) => dueAtMs)).toEqual(expected);
    for (const [i, dueAtMs] of expected.entries()) {
      expect(await world().job(answers[i]!.id)).toMatchObject({ dueAtMs, envelope: { payload: `${i}` } });
    }
    if (how === 'chosen') expect(answers[4]).toMatchObject({ status: 'waiting', dueAtMs: at + 5_000 });
  });

  it('jobs of one moment that share much or little are each stored as they are', async () => {
    world().store();
    const given = [
      newJob({ payload: 'a', tags: ['x'] }),
      newJob({ payload: 'b', tags: ['x'] }),
      newJob({ payload: 'c', priority: 1 }),
      newJob({ payload: 'd', name: 'other', settings: { maxAttempts: 2 } }),
      newJob({ payload: 'e', id: 'chosen' }),
      newJob({ payload: 'f', due: { delayMs: 1_000 } }),
    ];
    const made = ids(await world().scheduleAll(given));
    for (const [i, { name, priority, payload, settings }] of given.entries()) {
      const stored = await world().job(made[i]!);
      expect(stored?.envelope).toMatchObject({ name, priority, payload, settings, idWasChosen: i === 4 });
      expect(stored?.state).toBe(i === 5 ? 'scheduled' : 'due');
    }
  });

  it('one id that many schedule at once is created once', async () => {
    const { view } = world().store();
    const answers = await world().scheduleAll(Array.from({ length: 20 }, () => ({ id: 'once' })));
    expect(answers.filter(({ status }) => status === 'created')).toHaveLength(1);
    expect((await view.counts()).due).toBe(1);
  });

  it('reschedule moves a waiting job both ways', async () => {
    const { jobs } = world().store();
    const { id } = await world().schedule({ due: { delayMs: 60_000 } });
    expect(await jobs.reschedule(id, { delayMs: 0 })).toBe(true);
    expect(await world().job(id)).toMatchObject({ state: 'due', dueAtMs: world().now() });
    expect(await jobs.reschedule(id, { delayMs: 7_000 })).toBe(true);
    expect(await world().job(id)).toMatchObject({ state: 'scheduled', dueAtMs: world().now() + 7_000 });
    expect(await world().worker('w').claim()).toEqual([]);
  });

  it('reschedule keeps an instant in the past, which orders jobs', async () => {
    const { jobs } = world().store();
    const [first, second] = ids(await world().scheduleAll([{}, {}]));
    const at = world().now() - 5_000;
    await jobs.reschedule(second!, { at });
    expect(ids(await world().worker('w').claim())).toEqual([second, first]);
  });

  it.each<[string, (at: number) => Promise<unknown>]>([
    ['replace', (at) => world().replace({ id: 'x', due: { at } })],
    ['reschedule', (at) => world().whole.queue('default').jobs.reschedule('x', { at })],
    [
      'snooze',
      async (at) => {
        const worker = world().worker('w');
        await world().whole.queue('default').jobs.reschedule('x', { delayMs: 0 });
        const [{ id, fence }] = (await worker.claim()) as [ClaimedJob];
        await worker.settle({ id, fence, transition: 'snooze', due: { at } });
      },
    ],
    [
      'replayDead',
      async (at) => {
        const worker = world().worker('w');
        await world().whole.queue('default').jobs.reschedule('x', { delayMs: 0 });
        await worker.settle(settlement.dead((await worker.claim())[0]!));
        await world().whole.queue('default').management.replayDead('x', { at });
      },
    ],
  ])('an instant in the past is kept by %s too, and the job is due at once', async (_, act) => {
    world().store();
    await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
    const at = world().now() - 3_600_000;
    await act(at);
    expect(await world().job('x')).toMatchObject({ state: 'due', dueAtMs: at });
    expect((await world().worker('w').claim())[0]).toMatchObject({ id: 'x', dueAtMs: at });
  });

  it('a fraction of a millisecond is rounded up, and answered as it is stored', async () => {
    world().store();
    const dues: Due[] = [{ delayMs: 0.4 }, { delayMs: 0.5 }, { delayMs: 1.5 }, { at: world().now() + 7.1 }];
    for (const due of dues) {
      const { id, dueAtMs } = await world().schedule({ due });
      expect(dueAtMs).toBe(Math.ceil('at' in due ? due.at : world().now() + due.delayMs));
      expect((await world().job(id))?.dueAtMs).toBe(dueAtMs);
    }
  });

  it('reschedule answers false for a job that runs, is dead or is not there', async () => {
    const { jobs } = world().store();
    const { id } = await world().schedule();
    const worker = world().worker('w');
    const [job] = await worker.claim();
    expect(await jobs.reschedule(id, { delayMs: 0 })).toBe(false);
    await worker.settle({
      ...job!,
      transition: 'dead',
      failure: { name: 'E', message: '' },
      ran: true,
      failed: true,
      idWasChosen: false,
    });
    expect(await jobs.reschedule(id, { delayMs: 0 })).toBe(false);
    expect(await jobs.reschedule('unknown', { delayMs: 0 })).toBe(false);
  });
};

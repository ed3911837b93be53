import { describe, expect, it } from '@jest/globals';
import type { Claim, ClaimedJob, ProgressReport } from '../../lib/store/job-store.js';
import { settlement, type TestSession, type World } from './world.js';

/** How a run may end whose job stays, and in which state it is then. */
const LEAVES: Record<string, (job: ClaimedJob) => ReturnType<typeof settlement.retry>> = {
  'waits for its next attempt': (job) => settlement.retry(job, 5_000),
  'is snoozed': (job) => settlement.snooze(job, 5_000),
  'has gone back': settlement.release,
  'is dead': settlement.dead,
  'has completed and is kept': (job) => settlement.complete(job, '"done"'),
};

/** What makes of a job one that has reported nothing. */
const BEGINNINGS: Record<string, (world: World, worker: TestSession) => Promise<unknown>> = {
  'begins its next attempt': async (world, worker) => {
    world.pass(5_000);
    await worker.claim();
  },
  'is replaced': (world) => world.replace({ id: 'x', due: { delayMs: 60_000 } }),
};

export const progress = (world: () => World): void => {
  let worker: TestSession;
  let job: ClaimedJob;
  const run = async (options = {}, tags = ['a', 'two words']) => {
    world().store(options);
    worker = world().worker('w');
    await world().schedule({ id: 'x', tags });
    job = (await worker.claim())[0]!;
  };
  const report = (value: string, { id, fence }: Claim = job) => ({ id, fence, value });
  const tell = (...reports: ProgressReport[]) => worker.turn({ reports });
  const seen = async () => (await world().job('x'))?.progress;

  it('what a running job has reported last is shown with it', async () => {
    await run();
    expect(await seen()).toBeUndefined();
    await tell(report('10'));
    expect(await seen()).toBe('10');
    const value = JSON.stringify({ step: 'tab\there, and \n a line', of: [1, 2], ' 3': 'é' });
    await tell(report(value));
    expect(await world().job('x')).toMatchObject({ state: 'active', progress: value, attempts: 1, worker: 'w' });
  });

  it('reports of several jobs go in one turn, and each counts by its own lease', async () => {
    await run();
    await world().schedule({ id: 'y' });
    const [other] = await worker.claim();
    await tell(report('1'), report('2', { ...other!, fence: job.fence }), report('3', { id: 'nobody', fence: '5' }));
    expect([await seen(), (await world().job('y'))?.progress]).toEqual(['1', undefined]);
    await tell(report('4', other));
    expect([await seen(), (await world().job('y'))?.progress]).toEqual(['1', '4']);
  });

  it('a job whose worker reports is not taken from it in that turn, however late', async () => {
    await run();
    for (let thirds = 1; thirds <= 4; thirds++) {
      world().pass(world().settings.leaseMs / 3);
      expect(await tell(report(String(thirds)))).toMatchObject({ recovered: [] });
    }
    expect(await world().job('x')).toMatchObject({ state: 'active', progress: '4' });
    expect((await tell()).recovered).toMatchObject([{ id: 'x' }]);
    expect(await seen()).toBe('4');
  });

  it('a job that may not begin yet, as its claim is so large, has reported nothing', async () => {
    await run();
    await world().schedule({ id: 'y', payload: JSON.stringify('x'.repeat(300_000)) });
    const { claimed, isUnconfirmed } = await worker.turn({ limit: 1 });
    expect(isUnconfirmed).toBe(true);
    await worker.turn({ renewals: claimed, reports: [report('1', claimed[0])] });
    expect((await world().job('y'))?.progress).toBeUndefined();
    await tell(report('2', claimed[0]));
    expect((await world().job('y'))?.progress).toBe('2');
  });

  describe('a worker that has lost its lease', () => {
    it('writes nothing while another one runs the job', async () => {
      await run();
      await tell(report('1'));
      await world().outlive();
      const other = world().worker('v');
      const [again] = await other.claim();
      await tell(report('"of the dead"'));
      expect(await seen()).toBeUndefined();
      await other.turn({ reports: [report('2', again)] });
      await tell(report('"of the dead"'));
      expect(await seen()).toBe('2');
    });

    it('writes nothing where the job waits, and what it wrote before stays', async () => {
      await run();
      await tell(report('1'));
      await world().outlive();
      await tell(report('"of the dead"'));
      expect(await seen()).toBe('1');
    });
  });

  describe.each(Object.keys(LEAVES))('once the job %s', (how) => {
    it('what its run has reported last is still shown', async () => {
      await run({ keepCompleted: 5 });
      await tell(report('{"at":1}'));
      await worker.settle(LEAVES[how]!(job));
      expect(await seen()).toBe('{"at":1}');
      await tell(report('2'));
      expect(await seen()).toBe('{"at":1}');
    });
  });

  it.each(['retry', 'dead', 'snooze', 'complete', 'release'] as const)(
    'a report that the run had no time to send is kept with its settlement: %s',
    async (transition) => {
      await run({ keepCompleted: 5 });
      await tell(report('1'));
      const ends = transition === 'snooze' ? settlement.snooze(job, 60_000) : settlement[transition](job);
      await worker.settle({ ...ends, progress: '{"at": 99}' } as typeof ends);
      const known = await world().job('x');
      expect(known?.progress).toBe('{"at": 99}');
      if (transition === 'retry' || transition === 'dead')
        expect(known?.failures).toEqual([expect.objectContaining({ attempt: 1, message: 'no' })]);
      if (transition === 'complete') expect(known?.result).toBe('');
    },
  );

  it.each(Object.keys(BEGINNINGS))('nothing is shown any more once the job %s', async (how) => {
    await run();
    await tell(report('1'));
    await worker.settle(settlement.retry(job, 5_000));
    await BEGINNINGS[how]!(world(), worker);
    expect(await seen()).toBeUndefined();
  });

  it('nothing is shown any more of a dead job that is replayed', async () => {
    await run();
    await tell(report('1'));
    await worker.settle(settlement.dead(job));
    await world().queue.management.replayDead('x', { delayMs: 60_000 });
    expect(await seen()).toBeUndefined();
  });

  it('a job that takes the place of the run has reported nothing', async () => {
    await run();
    await tell(report('1'));
    await world().replace({ id: 'x', due: { delayMs: 60_000 }, tags: ['b'] });
    await worker.settle({ ...settlement.retry(job), progress: '2' } as ReturnType<typeof settlement.retry>);
    expect(await seen()).toBeUndefined();
  });

  it('a job that has reported is renewed, found by its tags, cancelled and counted like any other', async () => {
    await run();
    const { management, view } = world().queue;
    await tell(report('"\\t"'));
    expect(await worker.turn({ renewals: [job] })).toMatchObject({ lost: [], toCancel: [] });
    expect(await view.workers()).toMatchObject([{ id: 'w', running: 1 }]);
    await worker.settle(settlement.retry(job, 5_000));
    expect(await management.shiftTagged('two words', 1_000)).toBe(1);
    expect(await management.cancelTagged('two words', () => {})).toBe(1);
    expect(await management.cancelTagged('a', () => {})).toBe(0);
    expect(await world().job('x')).toBeUndefined();
  });

  it.each(['completes', 'is asked to be cancelled'])(
    'nothing is left of a job that has reported and %s',
    async (how) => {
      await run();
      await tell(report('1'));
      if (how !== 'completes') await world().queue.jobs.cancelRunning('x');
      expect(await worker.settle(settlement.complete(job))).toEqual([how === 'completes' ? 'counted' : 'cancelled']);
      await world().schedule({ id: 'x', due: { delayMs: 60_000 } });
      expect(await seen()).toBeUndefined();
      expect(await world().queue.management.cancelTagged('a', () => {})).toBe(0);
    },
  );

  it('a job without tags that has reported is counted while it runs, and found by name and reason once it is dead', async () => {
    await run({ keepDead: 1 }, []);
    await tell(report('"reason\\":\\"late"'));
    expect(await world().queue.view.workers()).toMatchObject([{ id: 'w', running: 1, weight: 1 }]);
    await worker.settle(settlement.dead(job));
    const { management } = world().queue;
    expect(await management.purgeDead({ names: ['work'], reason: 'late' })).toBe(0);
    expect(await management.purgeDead({ names: ['work'], reason: 'attempts-exhausted' })).toBe(1);
  });
};

import type { Benchmark, Context } from '../benchmark.js';
import type { Job, Session } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { median } from '../report/statistics.js';

const CLAIMED = 100;

export const claim: Benchmark = {
  name: 'claim',
  about:
    'How long Redis takes for one claim of 100 jobs, by its slowlog, with 100 000 jobs due: of one priority, spread over 32, and of ' +
    '20 000 names, all of which the worker handles. The median of the claims of a run.',
  contestants: ['ours'],
  cases: [
    {
      name: 'Of1Priority',
      size: { jobs: 100_000, priorities: 1, names: 1, claims: 50 },
      quick: { jobs: 5_000, claims: 5 },
    },
    {
      name: 'Of32Priorities',
      size: { jobs: 100_000, priorities: 32, names: 1, claims: 50 },
      quick: { jobs: 5_000, claims: 5 },
    },
    {
      name: 'Of20kNames',
      size: { jobs: 100_000, priorities: 1, names: 20_000, claims: 50 },
      quick: { jobs: 5_000, names: 500, claims: 5 },
    },
  ],
  figures: [
    { key: 'claimOf1Priority', title: 'Claim of 100, one priority due', unit: 'ms', better: 'less' },
    { key: 'claimOf32Priorities', title: 'Claim of 100, 32 priorities due', unit: 'ms', better: 'less' },
    { key: 'claimOf20kNames', title: 'Claim of 100, 20 000 names due', unit: 'ms', better: 'less' },
  ],
  bars: [
    { figure: 'claimOf32Priorities', over: { figure: 'claimOf1Priority' }, atMost: 2 },
    { figure: 'claimOf20kNames', atMost: 3 },
  ],
  timeoutMs: 300_000,

  async run(context) {
    const { size, probe } = context;
    const runs = new HeldRuns();
    const names = Array.from({ length: size('names') }, (_, i) => `name${i}`);
    const session = await context.open({ concurrency: CLAIMED, handle: () => runs.hold(), names });
    await fillAll(session, names, context);
    const micros: number[] = [];
    for (let i = 0; i < size('claims'); i++) {
      await probe.watchSlow(0);
      await session.start();
      await runs.reached(CLAIMED);
      // Beside the claim there is but the registration of names, and that is over in no time.
      micros.push(Math.max(...(await probe.scriptMicros())));
      const stopped = session.stop!();
      runs.release();
      await stopped;
    }
    return { [`claim${context.case}`]: median(micros) / 1_000 };
  },
};

/** So many jobs, every name and priority in turn. */
async function fillAll(session: Session, names: readonly string[], { size }: Context): Promise<void> {
  const all: Job[] = Array.from({ length: size('jobs') }, (_, i) => ({
    payload: payloadOf(),
    name: names[i % names.length]!,
    priority: 1 + (i % size('priorities')),
  }));
  for (let i = 0; i < all.length; i += 5_000) await session.scheduleMany(all.slice(i, i + 5_000));
}

/** Handlers that return when they are told to. */
class HeldRuns {
  private held: (() => void)[] = [];
  private wanted: { count: number; resolve: () => void } | undefined;

  hold(): Promise<void> {
    return new Promise((resolve) => {
      this.held.push(resolve);
      if (this.wanted && this.held.length >= this.wanted.count) this.wanted.resolve();
    });
  }

  async reached(count: number): Promise<void> {
    if (this.held.length >= count) return;
    await new Promise<void>((resolve) => {
      this.wanted = { count, resolve };
    });
  }

  release(): void {
    for (const resolve of this.held.splice(0)) resolve();
    this.wanted = undefined;
  }
}

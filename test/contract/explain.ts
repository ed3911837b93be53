import { expect, it } from '@jest/globals';
import type { Explanation } from '../../lib/api/inspection/explanation.js';
import { inspectorOf } from './inspected.js';
import { HOUR, MINUTE, recurrenceOf, storeOnTheSecond } from './recurring.js';
import { settlement, type World } from './world.js';

type Code = Explanation['code'];

/**
 * Of each code, what makes job `x`, or the one that is answered, one of which it is told, and what the message says then. A code without a
 * case does not compile.
 */
const CASES: Record<Code, [make: (world: World) => Promise<unknown>, says: RegExp]> = {
  unknown: [async (world) => void world.store(), /has no job 'x'/],
  discarded: [
    async (world) => {
      world.store({ keepEnded: 1 });
      await world.schedule({ id: 'x', lateness: { maxLatenessMs: 100, onLate: 'discard' } });
      world.pass(3 * HOUR);
      await world.worker('w').turn({ limit: 1 });
    },
    /was discarded at 20\d\d-.*: it could only begin 3 h after it was due, and its maxLatenessMs is 100 ms\.$/,
  ],
  cancelled: [
    async (world) => {
      const { jobs } = world.store({ keepEnded: 1 });
      await world.schedule({ id: 'x' });
      await jobs.cancel('x');
    },
    /was cancelled at 20\d\d-.* \(cancel\)\.$/,
  ],
  'not-due': [
    async (world) => {
      world.store();
      await world.schedule({ id: 'x', due: { delayMs: 60_000 } });
      await world.worker('w').claim();
    },
    /is due at 20\d\d-/,
  ],
  'no-handler': [
    async (world) => {
      world.store();
      await world.schedule({ id: 'x' });
      await world.worker('w', 'other').claim();
    },
    /no worker that runs at present handles that name/,
  ],
  paused: [
    async (world) => {
      const { management } = await waiting(world);
      await management.pause();
    },
    /is paused until somebody resumes it/,
  ],
  blackout: [
    async (world) => {
      const { management } = await waiting(world);
      await management.setBlackouts([{ fromMs: world.now() - 1, toMs: world.now() + 60_000 }]);
    },
    /is in a blackout until 20\d\d-/,
  ],
  'group-paused': [
    async (world) => {
      const { management } = await waiting(world, 'a:1');
      await management.pauseGroup('a:1', 60_000);
    },
    /its group 'a:1' is paused until 20\d\d-/,
  ],
  'group-rate': [
    async (world) => {
      world.store({ groups: { rateLimit: { max: 1, perMs: 60_000 } } });
      await busy(world, 'a');
    },
    /its group 'a' has used up its rateLimit of 1 in 1 min; its next job may start at 20\d\d-/,
  ],
  'group-order': [
    async (world) => {
      world.store({ groups: { order: 'fifo' } });
      await busy(world, 'a');
    },
    /its group 'a' has a job that has begun and is to end first, as groups\.order is 'fifo'\.$/,
  ],
  'group-concurrency': [
    async (world) => {
      const { management } = world.store({ groups: { concurrency: 5 } });
      await management.setGroup('a', { concurrency: 1 });
      await busy(world, 'a');
    },
    /its group 'a' runs as many jobs as its concurrency lets, 1\.$/,
  ],
  'rate-limited': [
    async (world) => {
      world.store({ rateLimit: { max: 1, perMs: 60_000 } });
      await busy(world);
    },
    /rateLimit of 1 in 1 min is used up/,
  ],
  concurrency: [
    async (world) => {
      world.store({ globalConcurrency: 1 });
      await busy(world);
    },
    /globalConcurrency lets, 1\./,
  ],
  'waiting-for-worker': [
    async (world) => {
      world.store({ stealAfterMs: 60_000 });
      for (const id of ['v', 'w']) await world.worker(id).claim();
      await world.schedule({ id: 'x', worker: 'v' });
    },
    /left to worker 'v', which it prefers, until 20\d\d-/,
  ],
  suspect: [
    async (world) => {
      world.store({ maxCrashes: 2 });
      await world.schedule({ id: 'x' });
      await world.crash(1);
      // A process that holds a job: the suspect waits until it holds nothing.
      const worker = world.worker('w');
      await world.schedule({ id: 'beside' });
      await worker.turn({ limit: 1 });
      await worker.turn({ limit: 1, suspects: 'reserve' });
    },
    /has one crash left \(1 of 2\): it runs alone, once a process holds nothing else/,
  ],
  overlap: [
    async (world) => {
      const { recurrences } = storeOnTheSecond(world);
      const at = (await recurrences.upsert(recurrenceOf({ everyMs: MINUTE, overlap: 'queue' }))).nextAtMs!;
      const worker = world.worker('w');
      for (const ms of [at, at + MINUTE]) {
        await world.serve(ms - world.now(), worker);
        await worker.claim();
      }
      return `r@${at + MINUTE}`;
    },
    /waits for the previous occurrence, job 'r@\d+', to end/,
  ],
  behind: [
    async (world) => {
      world.store();
      await busy(world);
    },
    /waits for room in worker 'w'; in the queue, 1 due and 1 active/,
  ],
  active: [
    async (world) => {
      world.store();
      await world.schedule({ id: 'x' });
      await world.worker('w').claim();
    },
    /is active in worker 'w' \(last heard of at 20\S+Z\), in attempt 1; its lease holds until 20\d\d-/,
  ],
  completed: [(world) => ended(world, settlement.complete), /completed at 20\d\d-/],
  dead: [(world) => ended(world, settlement.dead), /\(attempts-exhausted\): no\.$/],
};

/** A due job that a worker handles. */
async function waiting(world: World, group?: string) {
  const queue = world.store();
  await world.worker('w').claim();
  await world.schedule({ id: 'x', group });
  return queue;
}

/** One job runs, and `x` is due besides. */
async function busy(world: World, group?: string) {
  await world.schedule({ id: 'before', group });
  await world.worker('w').claim(1);
  await world.schedule({ id: 'x', group });
}

async function ended(world: World, how: typeof settlement.complete | typeof settlement.dead) {
  world.store({ keepCompleted: 5 });
  await world.schedule({ id: 'x' });
  const worker = world.worker('w');
  await worker.settle(how((await worker.claim())[0]!));
}

export const explain = (world: () => World): void => {
  it.each(Object.keys(CASES) as Code[])('explain says why: %s', async (code) => {
    const [make, says] = CASES[code];
    const made = await make(world());
    const id = typeof made === 'string' ? made : 'x';
    const { inspector } = inspectorOf(world());
    const explanation = await inspector.explain(id);
    expect(explanation.code).toBe(code);
    expect(explanation.message).toMatch(says);
  });

  it('explain names the job whose handler keeps the place that a job waits for, and since when', async () => {
    world().store({ concurrency: 3 });
    const worker = world().worker('w');
    await worker.claim();
    await world().scheduleAll([{ id: 'x' }, { id: 'other', name: 'other' }]);
    await world().worker('v', 'other').turn();
    await worker.turn({ stuck: { count: 1, weight: 3, id: 'before', name: 'work', forMs: 90_000 } });
    const { inspector } = inspectorOf(world());
    expect(await inspector.explain('x')).toEqual({
      code: 'behind',
      message: expect.stringMatching(
        / Stuck handlers take 3 of the 3 places of the workers that could run it\. The longest is that of job 'work' \(before\) in worker 'w', since 20\d\d-.*Z; a place is free only once its handler returns\.$/,
      ),
    });
    expect((await inspector.explain('other')).message).not.toContain('before');
  });
};

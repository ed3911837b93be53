import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { nextJob } from '../../lib/core/job/chain.js';
import type { StoredStep } from '../../lib/core/job/new-job.js';
import type { ClaimedJob, Envelope, NewJob, NextJob, Settlement } from '../../lib/store/job-store.js';
import { queueKeys } from '../../lib/store/redis/keys.js';
import { monitorOf } from '../support/monitor.js';
import { seededRandom } from '../support/random.js';
import { commandsOfScripts } from '../support/script-commands.js';
import { newJob, payloadOf, QUEUE, settlement, TestStore, TestWorker } from '../support/store.js';

const SETS = ['open', 'closed-late', 'closed-early'];

/** Past dues are as the jobs were given them, and later ones an hour off; between them lies what a script has made due. */
const madeDue = (startMs: number, score: string) =>
  Number(score) > startMs + 1_000 && Number(score) < startMs + 3_600_000;

/** A store, and a worker whose first turn, which lists it, is over. */
class Way {
  readonly test = new TestStore({ leaseMs: 60_000 });
  readonly keys = queueKeys(this.test.prefix, QUEUE);
  private readonly worker: TestWorker;
  private held: ClaimedJob[] = [];
  private steps = 0;

  /** How the members of each set have ended that this worker has settled. */
  readonly ended = Object.fromEntries(SETS.map((set) => [set, { completed: 0, dead: 0, discarded: 0 }]));

  /** `asking`: as `short`, but its names are too long for turns to carry them. */
  constructor(private readonly kind: 'short' | 'asking' | 'long' | 'whole') {
    const names = kind === 'asking' ? ['a', 'b', 'n'.repeat(200)] : ['a', 'b'];
    const versions = new Map([['a', { first: 1, last: 2 }]]);
    this.worker = new TestWorker(this.test.sessions.worker('w', { names, versions, limited: kind === 'long' }));
  }

  /**
   * The payloads of the jobs that a turn claims; it settles what the turn before has claimed, every third one by giving it back. `ends`: whether
   * all others complete, or some of them are discarded or die.
   */
  async claim(limit: number, ends: 'complete' | 'mixed' = 'complete'): Promise<string[]> {
    // What two turns make due, or end, is told apart by its instant.
    for (const at = Date.now(); Date.now() === at; ) await new Promise(setImmediate);
    const { claimed } = await this.worker.turn({
      settlements: this.held.map((job, i) => this.settlementOf(job, i, ends)),
      limit,
      // Handlers with limits of their own are not for the short way.
      handlers: this.kind === 'long' ? ['a', 'b'].map((name) => ({ name, weight: 1, free: 1_000, size: 1 })) : [],
    });
    this.held = [...claimed];
    return claimed.map((job) => {
      const { set, setDone, chain } = job.envelope as Partial<Envelope>;
      return `${payloadOf(job)} ${job.attempt}${set ?? ''}${setDone ? JSON.stringify(setDone) : ''}${chain?.step ?? ''}`;
    });
  }

  private settlementOf(job: ClaimedJob, i: number, ends: 'complete' | 'mixed'): Settlement {
    if (i % 3 === 2) return settlement.release(job);
    const { id, fence } = job;
    const { chain, set } = job.envelope as Partial<Envelope>;
    const how = ends === 'mixed' ? (['completed', 'dead', 'completed', 'discarded'] as const)[i % 4]! : 'completed';
    if (set) this.ended[set]![how]++;
    if (how === 'dead') return settlement.dead(job);
    if (how === 'discarded') return { id, fence, transition: 'discard', idWasChosen: false, reason: '' };
    if (!chain?.next) return settlement.complete(job);
    // Their ids grow as made ones do.
    const next: NextJob = {
      ...nextJob(chain, chain.next, { id, set }),
      id: `step-${String(++this.steps).padStart(5, '0')}`,
    };
    return { ...settlement.complete(job), next };
  }

  /** From now on its turns are whole: there is a job with a group, which waits. */
  async useGroups(): Promise<void> {
    await this.test.schedule({ group: 'g', due: { delayMs: 3_600_000 } });
  }

  /** What is known of the sets; not when they were opened, which differs. */
  async sets() {
    return Promise.all(
      SETS.map(async (id) => ({ ...(await this.test.store.queue(QUEUE).sets.read(id)), openedAtMs: undefined })),
    );
  }

  /** Two jobs of one call are not for the short way. */
  async schedule(jobs: readonly NewJob[]): Promise<void> {
    if (this.kind === 'long' || this.kind === 'whole') await this.test.scheduleAll(jobs);
    else for (const job of jobs) await this.test.schedule(job);
  }

  /** The sorted sets of waiting and running jobs, and of the members of sets, with payloads in the place of ids. */
  async indexes(startMs: number): Promise<Record<string, string[]>> {
    const { redis } = this.test;
    const { base } = this.keys;
    const payloads = Object.entries(await redis.hgetall(this.keys.jobs)).map(
      ([id, envelope]) => [id, envelope.split('\n')[3]!] as const,
    );
    const named = (text: string) => payloads.reduce((so, [id, payload]) => so.replace(id, payload), text);
    const names = (await redis.keys(`${base}*`))
      .filter((key) => /:(heads:.*|levels|lane:.*|versioned)$/.test(key) && !key.includes('@'))
      .sort();
    const read = async (key: string) => {
      const scored = await redis.zrange(key, '0', '-1', 'WITHSCORES');
      const told = scored.map((text, i) => (i % 2 === 0 ? named(text) : madeDue(startMs, text) ? 'made' : text));
      return [key.slice(base.length), told] as const;
    };
    const members = SETS.map(
      async (set) => [set, (await redis.hkeys(`${base}members:${set}`)).map(named).sort()] as const,
    );
    return Object.fromEntries(await Promise.all([...names.map(read), ...members]));
  }
}

let short: Way;
let asking: Way;
let long: Way;
let whole: Way;
let ways: Way[];
beforeEach(async () => {
  ways = [short, asking, long, whole] = [new Way('short'), new Way('asking'), new Way('long'), new Way('whole')];
  for (const way of ways) await way.claim(1);
});
afterEach(async () => {
  for (const { test } of ways) {
    expect(await test.audit()).toEqual([]);
    await test.close();
  }
});

/** What each way answers, the same for all. */
async function same<T>(ask: (way: Way) => Promise<T>): Promise<T> {
  const [first, ...others] = [await ask(short), await ask(asking), await ask(long), await ask(whole)];
  for (const other of others) expect(other).toEqual(first);
  return first;
}

it.each([1, 2, 3, 4, 5, 6])(
  'the short ways of schedule and turn end where the long ones do (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const below = (count: number) => Math.floor(random() * count);
    const startMs = Date.now() - 60_000;
    const compare = async () => {
      await same((way) => way.indexes(startMs));
      const known = await same((way) => way.sets());
      for (const { id, completed, dead, discarded } of known)
        expect({ completed, dead, discarded }).toEqual(short.ended[id!]);
    };
    await whole.useGroups();
    const done = newJob({ name: 'b', priority: 7 });
    for (const { test } of ways)
      for (const set of SETS)
        await test.store
          .queue(QUEUE)
          .sets.open(set, { ...done, payload: `"done ${set}"`, id: `done-${set}` } as NextJob);
    const closes = new Map([
      [20, 'closed-early'],
      [40, 'closed-late'],
    ]);
    for (let step = 0; step < 60; step++) {
      const jobs = Array.from({ length: 2 }, (_, i) => {
        const name = below(8) === 0 ? 'b' : 'a';
        const version = below(8) === 0 ? 2 : 1;
        // Nobody here handles version 2 of the other name, and its set would wait for it.
        const set = name === 'b' && version === 2 ? undefined : SETS[below(8)];
        const isChained = below(6) === 0;
        // So that a turn ends the last member of one set, and a cancellation that of another.
        const isLater = below(4) === 0 && set !== 'closed-early';
        const atMs = startMs + (isLater ? 3_600_000 : 0) + below(6);
        const next: StoredStep[] = [
          {
            name: below(5) === 0 ? 'b' : 'a',
            priority: 5,
            settings: {},
            delayMs: below(4) === 0 ? 3 : 0,
            payload: `"${seed}-${step}-${i}+"`,
          },
        ];
        return newJob({
          name,
          priority: below(8) === 0 ? 3 : 5,
          due: { at: atMs },
          payload: `"${seed}-${step}-${i}"`,
          ...(version === 2 && { version }),
          // Members of sets that may be done by now come no more.
          ...(set && !(set === 'closed-early' && step > 20) && !(set === 'closed-late' && step > 40) && { set }),
          ...(isChained && { chain: { step: 1, of: 2, steps: next.map((each) => JSON.stringify(each)) } }),
        });
      });
      for (const way of ways) await way.schedule(jobs);
      await compare();
      const closed = closes.get(step);
      if (closed) await same(({ test }) => test.store.queue(QUEUE).sets.close(closed));
      const [limit, ends] = [[1, 2, 3, 20][below(4)]!, below(4) === 0 ? 'mixed' : 'complete'] as const;
      if (below(2) === 0) await same((way) => way.claim(limit, ends));
      await compare();
    }
    for (const { test } of ways)
      for (const { id, envelope } of await test.view.list('scheduled', 0, 1_000))
        if (!(envelope as Envelope).group) await test.jobs.cancel(id);
    // A turn after which nothing is held may have given jobs back.
    for (let empty = 0; empty < 2; ) {
      const claimed = await same((way) => way.claim(20));
      empty = claimed.length > 0 ? 0 : empty + 1;
      await compare();
    }
    const states = (await short.sets()).map(({ id, state }) => `${id} ${state}`);
    expect(states).toEqual(['open open', 'closed-late done', 'closed-early done']);
  },
);

it.each([0, 20_000])(
  'next steps due after %i ms enter the lane of which the turn claims, as on the long ways',
  async (delayMs) => {
    const startMs = Date.now() - 60_000;
    const next = JSON.stringify({ name: 'a', priority: 5, settings: {}, delayMs, payload: '"step"' });
    const chain = { step: 1, of: 3, steps: [next, next] };
    await whole.useGroups();
    // Two for each of two turns, so that the second one leaves nothing before the steps; then nothing, or what is due after them.
    const dues = [0, 1, 2, 3, ...(delayMs === 0 ? [1_800_000] : [])].map((afterMs) => startMs + afterMs);
    const jobs = dues.map((at, i) => newJob({ name: 'a', due: { at }, payload: `"${i}"`, chain }));
    for (const way of ways) await way.schedule(jobs);
    const { keys, test } = short;
    const sent = await commandsOfScripts(test.redis, async () => {
      for (let turn = 0; turn < 12; turn++) {
        await same((way) => way.claim(2));
        await same((way) => way.indexes(startMs));
      }
    });
    // The long way removes by id (`ZREM`) from a lane that something enters; only the short way has both commands.
    const isOfShortWay = (script: string[][]) =>
      script.some(([command, key]) => command === 'zremrangebyrank' && key === `${keys.base}lane:5::a`) &&
      script.some(([command, key, field]) => command === 'hincrby' && key === keys.stats && field === 'scheduled');
    expect(sent.filter(isOfShortWay).length).toBeGreaterThan(0);
    // The job with a group that makes the turns of `whole` whole.
    const scheduled = await same(async (way) => (await way.test.view.stats()).scheduled! - Number(way === whole));
    expect(scheduled).toBe(delayMs === 0 ? 5 + 8 : 4 + 4);
  },
);

it('a turn that settles one job and claims another is as many commands as docs/redis-design.md says', async () => {
  const { test, keys } = short;
  const worker = test.worker('other');
  await worker.listens();
  await worker.turn({ limit: 1 });
  await test.schedule();
  const [job] = await worker.claim(10);
  await test.schedule();
  const settlements = [settlement.complete(job!)];
  const sent = await commandsOfScripts(test.redis, () => worker.turn({ limit: 10, settlements }));
  const [turn] = sent.filter((script) => script.some(([, key, field]) => key === keys.stats && field === 'completed'));
  const printed = readFileSync('docs/redis-design.md', 'utf8').match(
    /settles one job and claims another is (\d+) commands/,
  )!;
  expect(turn).toHaveLength(Number(printed[1]));
});

it('a job whose envelope is empty is handed out to die, and holds up nobody', async () => {
  for (const { test, keys } of [short, long]) {
    const { id } = await test.schedule({ name: 'a' });
    await test.schedule({ name: 'a', payload: '"next"' });
    await test.redis.hset(keys.jobs, id, '');
  }
  const [first, ...rest] = await Promise.all(
    [short, long].map((way) => way.claim(1).catch((error: Error) => error.message)),
  );
  expect(rest).toEqual([first]);
  expect(await short.claim(1)).toEqual(['"next" 1']);
});

it('a job that is written again, as its receipt was evicted, stays in the index of its lane', async () => {
  const { test, keys } = short;
  const monitor = await monitorOf(test.redis);
  const calls: string[][] = [];
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    if (source !== 'lua' && args[0]!.toLowerCase() === 'evalsha' && args[3]!.includes(keys.base.slice(0, -1)))
      calls.push(args);
  });
  await test.schedule({ name: 'a', due: { at: Date.now() - 1_000 } });
  await test.redis.ping();
  monitor.disconnect();
  const [command, ...call] = calls.at(-1)!;
  await test.redis.del(call[2]!);
  expect((await test.redis.call(command!, ...call)) as string[]).toContain('done');
  expect(await test.redis.zcard(`${keys.base}heads:5`)).toBe(1);
  // It was counted twice, which the audit would find.
  await test.redis.hincrby(keys.stats, 'scheduled', -1);
});

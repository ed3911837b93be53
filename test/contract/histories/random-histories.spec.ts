import { afterEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/random.js';
import { whyNoStoppedRedis } from '../../support/stopped-redis.js';
import { ProcessWorld } from '../process-world.js';
import { RedisWorld } from '../redis-world.js';
import { OneStore } from './one-store.js';
import { RandomHistory, randomOptions } from './random-history.js';
import { RecurrenceHistory, recurrenceOptions } from './recurrence-history.js';
import { TwoStores } from './two-stores.js';

/** `npm run test:histories` takes more and longer ones. */
const SEEDS = Number(process.env.HISTORY_SEEDS ?? 3);
const FIRST_SEED = Number(process.env.HISTORY_SEED ?? 1);
const STEPS = Number(process.env.HISTORY_STEPS ?? 500);
/** After so many steps whole states are compared, and not only answers. */
const STEPS_A_COMPARISON = 50;
/** The day in which histories begin. */
const FIRST_DAY_MS = Date.UTC(2027, 0, 1);
const DAY_MS = 86_400_000;

let small: ProcessWorld | undefined;
let redis: RedisWorld | undefined;

afterEach(close);

async function close(): Promise<void> {
  await small?.close();
  await redis?.close();
  await redis?.stop();
  small = undefined;
  redis = undefined;
}

const missing = whyNoStoppedRedis();
if (missing) process.stdout.write(`No histories are compared with Redis: ${missing}.\n`);

(missing ? describe.skip : describe)('a random history', () => {
  const seeds = Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i);

  it.each(seeds)(
    'is answered by the small Redis as by a real one (seed %i)',
    async (seed) => void (await run(seed, STEPS, 'jobs')),
    600_000,
  );

  it.each(seeds)(
    'is answered by Redis where sessions hear of each other (seed %i)',
    async (seed) => void (await run(seed, STEPS, 'messages')),
    600_000,
  );

  it.each(seeds)(
    'of recurrences is answered by the small Redis as by a real one (seed %i)',
    async (seed) => void (await run(seed, STEPS, 'recurrences')),
    600_000,
  );

  it.each(['jobs', 'messages', 'recurrences'] as const)('of %s is the same each time for one seed', async (kind) => {
    const digest = await run(FIRST_SEED, 100, kind);
    await close();
    expect(await run(FIRST_SEED, 100, kind)).toBe(digest);
    await close();
    expect(await run(FIRST_SEED + 1, 100, kind)).not.toBe(digest);
  });
});

type Kind = 'jobs' | 'messages' | 'recurrences';

/** In new worlds, so that it depends on its seed alone, whatever ran before. Answers a digest of all that was asked and answered. */
async function run(seed: number, steps: number, kind: Kind): Promise<string> {
  const random = seededRandom(seed);
  const clock = new ManualClock(FIRST_DAY_MS + Math.floor(random() * DAY_MS));
  small = new ProcessWorld(clock);
  redis = await RedisWorld.start(clock);
  const stores = kind === 'messages' ? new OneStore(redis) : new TwoStores(small, redis);
  const options = kind === 'recurrences' ? recurrenceOptions(random) : randomOptions(random);
  stores.open(options);
  const history =
    kind === 'recurrences'
      ? new RecurrenceHistory(stores, random)
      : new RandomHistory(stores, random, kind === 'messages');
  await take(history, stores, steps, `seed ${seed}, ${JSON.stringify(options)}`);
  return stores.log.digest;
}

async function take(
  history: RandomHistory | RecurrenceHistory,
  stores: TwoStores,
  steps: number,
  which: string,
): Promise<void> {
  await history.begin();
  for (let step = 1; step <= steps; step++) {
    try {
      await history.step();
      if (step % STEPS_A_COMPARISON !== 0 && step !== steps) continue;
      await stores.compareAll();
      if (history instanceof RecurrenceHistory) await history.compareRecurrences();
    } catch (error) {
      (error as Error).message =
        `${which}, step ${step}: ${(error as Error).message}\nThe latest calls:\n${stores.log.tail}`;
      throw error;
    }
  }
}

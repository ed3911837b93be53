import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/random.js';
import { whyNoStoppedRedis } from '../../support/stopped-redis.js';
import { MemoryWorld } from '../memory-world.js';
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

let clock: ManualClock;
let memory: MemoryWorld;
let redis: RedisWorld;

beforeAll(async () => {
  clock = new ManualClock();
  memory = new MemoryWorld(clock);
  if (!missing) redis = await RedisWorld.start(clock);
});

afterEach(async () => {
  await memory.close();
  await redis?.close();
});

afterAll(() => redis?.stop());

const missing = whyNoStoppedRedis();
if (missing) process.stdout.write(`No histories are compared with Redis: ${missing}.\n`);

(missing ? describe.skip : describe)('a random history', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'is answered by Redis as by the store in memory (seed %i)',
    (seed) => run(seed, new TwoStores(memory, redis), false),
    600_000,
  );

  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'is answered by Redis also where sessions hear of each other (seed %i)',
    (seed) => run(seed, new OneStore(redis), true),
    600_000,
  );

  it.each(Array.from({ length: SEEDS }, (_, i) => FIRST_SEED + i))(
    'of recurrences is answered by Redis as by the store in memory (seed %i)',
    (seed) => runRecurrences(seed, new TwoStores(memory, redis)),
    600_000,
  );
});

function run(seed: number, stores: TwoStores, listens: boolean): Promise<void> {
  const random = seededRandom(seed);
  const options = randomOptions(random);
  stores.open(options);
  return take(seed, options, stores, new RandomHistory(stores, random, listens));
}

function runRecurrences(seed: number, stores: TwoStores): Promise<void> {
  const random = seededRandom(seed);
  const options = recurrenceOptions(random);
  stores.open(options);
  return take(seed, options, stores, new RecurrenceHistory(stores, random));
}

async function take(
  seed: number,
  options: QueueOptions,
  stores: TwoStores,
  history: RandomHistory | RecurrenceHistory,
): Promise<void> {
  await history.begin();
  for (let step = 1; step <= STEPS; step++) {
    try {
      await history.step();
      if (step % STEPS_A_COMPARISON !== 0 && step !== STEPS) continue;
      await stores.compareAll();
      if (history instanceof RecurrenceHistory) await history.compareRecurrences();
    } catch (error) {
      (error as Error).message = `seed ${seed}, step ${step}, ${JSON.stringify(options)}: ${(error as Error).message}`;
      throw error;
    }
  }
}

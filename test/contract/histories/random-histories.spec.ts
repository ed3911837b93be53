import { afterAll, afterEach, beforeAll, describe, it } from '@jest/globals';
import { ManualClock } from '../../support/manual-clock.js';
import { seededRandom } from '../../support/random.js';
import { whyNoStoppedRedis } from '../../support/stopped-redis.js';
import { MemoryWorld } from '../memory-world.js';
import { RedisWorld } from '../redis-world.js';
import { OneStore } from './one-store.js';
import { RandomHistory, randomOptions } from './random-history.js';
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
});

async function run(seed: number, stores: TwoStores, listens: boolean): Promise<void> {
  const random = seededRandom(seed);
  const options = randomOptions(random);
  stores.open(options);
  const history = new RandomHistory(stores, random, listens);
  await history.begin();
  for (let step = 1; step <= STEPS; step++) {
    try {
      await history.step();
      if (step % STEPS_A_COMPARISON === 0 || step === STEPS) await stores.compareAll();
    } catch (error) {
      (error as Error).message = `seed ${seed}, step ${step}, ${JSON.stringify(options)}: ${(error as Error).message}`;
      throw error;
    }
  }
}

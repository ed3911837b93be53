import type { Benchmark } from '../benchmark.js';
import { batch } from './batch.js';
import { bulk } from './bulk.js';
import { burst } from './burst.js';
import { claim } from './claim.js';
import { drain } from './drain.js';
import { drainDto } from './drain-dto.js';
import { groups } from './groups.js';
import { growth } from './growth.js';
import { idle } from './idle.js';
import { importing } from './import.js';
import { inspect } from './inspect.js';
import { kit } from './kit.js';
import { lateness } from './lateness.js';
import { memory } from './memory.js';
import { move } from './move.js';
import { outage } from './outage.js';
import { queues } from './queues.js';
import { recurrences } from './recurrences.js';
import { scale } from './scale.js';
import { schedule } from './schedule.js';
import { scheduleOne } from './schedule-one.js';
import { sets } from './sets.js';
import { single } from './single.js';
import { steady } from './steady.js';
import { two } from './two.js';
import { versions } from './versions.js';
import { watched } from './watched.js';

/** In the order in which they run and are shown. */
export const BENCHMARKS: readonly Benchmark[] = [
  schedule,
  scheduleOne,
  bulk,
  drain,
  drainDto,
  batch,
  steady,
  memory,
  lateness,
  single,
  burst,
  idle,
  growth,
  scale,
  move,
  claim,
  groups,
  queues,
  two,
  recurrences,
  outage,
  watched,
  versions,
  sets,
  inspect,
  kit,
  importing,
];

/** Throws where there is none of that name. */
export function benchmarkNamed(name: string): Benchmark {
  const found = BENCHMARKS.find((benchmark) => benchmark.name === name);
  if (!found) {
    const names = BENCHMARKS.map((benchmark) => benchmark.name).join(', ');
    throw new Error(`There is no benchmark '${name}': expected one of ${names}.`);
  }
  return found;
}

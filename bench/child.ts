// One case of one benchmark for one contestant, in a process that has done nothing else. Started by rounds.ts, which is told
// the figures, or what went wrong.
import { benchmarkNamed } from './benchmarks/index.js';
import type { ContestantName } from './contestants/contestant.js';
import { loadContestant } from './contestants/index.js';
import { RedisProbe } from './measure/redis-probe.js';

export interface Task {
  benchmark: string;
  case: string;
  contestant: ContestantName;
  redis: string;
  size: Record<string, number>;
}

export type Answer = { figures: Record<string, number> } | { error: string };

const task = JSON.parse(process.argv[2]!) as Task;
process.once('disconnect', () => process.exit(1));
process.send!(await answer(), () => process.exit(0));

async function answer(): Promise<Answer> {
  try {
    const contestant = await loadContestant(task.contestant);
    const figures = await benchmarkNamed(task.benchmark).run({
      case: task.case,
      name: task.contestant,
      contestant,
      redis: task.redis,
      probe: new RedisProbe(task.redis),
      size(key) {
        const size = task.size[key];
        if (size === undefined) throw new Error(`Benchmark '${task.benchmark}' names no size '${key}'.`);
        return size;
      },
      open: (options) => contestant.open({ redis: task.redis, ...options }),
    });
    return { figures };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.js';
import type { ContestantName } from '../contestants/contestant.js';
import type { ImportTimes } from '../measure/import-time.js';
import { dependenciesOf, ownDependencies } from '../peers.js';
import { median } from '../report/statistics.js';

export const importing: Benchmark = {
  name: 'import',
  about:
    'How long loading the package takes in a process that has loaded Nest: with ioredis (or redis, for bee-queue), and beyond that client. ' +
    'And how many packages it depends on at run time, peers not counted.',
  contestants: ['ours', 'bullmq', 'bee-queue'],
  cases: [{ name: 'all', size: { processes: 10 }, quick: { processes: 3 } }],
  figures: [
    { key: 'overNest', title: 'Import over Nest, Redis client included', unit: 'ms', better: 'less' },
    { key: 'overClient', title: 'Import over Nest and Redis client', unit: 'ms', better: 'less' },
    { key: 'dependencies', title: 'Dependencies at run time', unit: '', better: 'less' },
  ],
  bars: [
    { figure: 'overNest', atMost: 100 },
    { figure: 'dependencies', atMost: 2 },
  ],
  timeoutMs: 90_000,

  async run({ name, size }) {
    const times: ImportTimes[] = [];
    for (let i = 0; i < size('processes'); i++) times.push(await measure(name));
    return {
      overNest: median(times.map(({ overNest }) => overNest)),
      overClient: median(times.map(({ overClient }) => overClient)),
      dependencies: name === 'ours' ? ownDependencies() : dependenciesOf(name),
    };
  },
};

async function measure(name: ContestantName): Promise<ImportTimes> {
  const child = fork(fileURLToPath(new URL('../measure/import-time.js', import.meta.url)), [name]);
  const [times] = (await once(child, 'message')) as [ImportTimes];
  return times;
}

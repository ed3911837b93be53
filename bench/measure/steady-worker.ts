// A worker process of the benchmark `steady`: says when it is connected, begins when told to, and reports only when asked, as each
// word to the parent costs both processes time that counts.
import { setTimeout as wait } from 'node:timers/promises';
import { loadContestant } from '../contestants/index.js';
import { preciseNow, type SteadyReport, type SteadyWord } from './steady-workers.js';
import type { WorkerTask } from './worker-processes.js';

const { contestant, redis, concurrency, handlerMs } = JSON.parse(process.argv[2]!) as WorkerTask;
let lateMs: number[] = [];
let settled = 0;

const { open } = await loadContestant(contestant);
const session = await open({
  redis,
  concurrency,
  handle(payload) {
    lateMs.push(preciseNow() - (payload as { dueAt: number }).dueAt);
    return wait(handlerMs);
  },
  settled() {
    settled++;
  },
});

process.on('message', (word: SteadyWord) => {
  if (word === 'begin') void session.start();
  else report();
});
process.once('disconnect', () => process.exit());
process.send!('ready');

function report(): void {
  const { user, system } = process.cpuUsage();
  const told: SteadyReport = { settled, cpuMicros: user + system, lateMs };
  process.send!(told);
  lateMs = [];
}

// A worker process for the benchmarks that need several: says when it is connected, begins when told to, and says now and
// then how many jobs it has settled.
import { setTimeout as wait } from 'node:timers/promises';
import { loadContestant } from '../contestants/index.js';
import type { WorkerTask } from './worker-processes.js';

/** Rare enough to cost nothing beside what is measured: whoever is told has to be given a core as well. */
const TELL_EVERY_MS = 20;

const { contestant, redis, concurrency, handlerMs } = JSON.parse(process.argv[2]!) as WorkerTask;
let settled = 0;
let told = 0;

function tell(): void {
  if (settled === told) return;
  told = settled;
  process.send!(settled);
}

const { open } = await loadContestant(contestant);
const session = await open({
  redis,
  concurrency,
  handle: () => wait(handlerMs),
  settled() {
    settled++;
  },
});
setInterval(tell, TELL_EVERY_MS);
process.once('message', () => void session.start());
process.once('disconnect', () => process.exit());
process.send!('ready');

// How long one contestant takes to load in a process that has loaded Nest. Argument: its name.
import { loadClientOf, loadPeer } from '../peers.js';

export interface ImportTimes {
  /** The client of Redis included, ms. */
  overNest: number;
  overClient: number;
}

const name = process.argv[2]!;
await import('reflect-metadata');
await Promise.all([import('@nestjs/common'), import('@nestjs/core')]);

const started = performance.now();
if (name === 'bee-queue') loadClientOf(name, 'redis');
else await import('ioredis');
const client = performance.now();
if (name === 'ours') await import('nestjs-redis-scheduled-queue');
else loadPeer(name);
const ended = performance.now();

const times: ImportTimes = { overNest: ended - started, overClient: ended - client };
process.send!(times, () => process.exit());

// Schedules jobs while their Redis, which writes each answer to disk first, is killed again and again; then looks for every
// job that `schedule` answered for. Prints figures; exits with 1 where one is missing, or a refused one is there.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { QueueUnavailableError, RedisScheduledQueueModule, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import { startOwnServer } from '../support/redis-server.js';

const { values } = parseArgs({
  options: { jobs: { type: 'string', default: '100000' }, kills: { type: 'string', default: '5' } },
});
const JOBS = Number(values.jobs);
const KILLS = Number(values.kills);
/** So many calls are under way at a time, one job each. */
const CALLERS = 200;
/** Short, so that some calls fail for good while Redis is away. */
const COMMAND_TIMEOUT_MS = 500;
const DOWN_MS = 700;

const server = await startOwnServer('--appendonly', 'yes', '--appendfsync', 'always');

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: server.url,
      prefix: 'durable',
      role: 'producer',
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
    }),
  ],
})
class ProducerModule {}

Logger.overrideLogger(false);
const app = await NestFactory.createApplicationContext(ProducerModule);
const producer = app.get(ScheduledQueueProducer);

const accepted: string[] = [];
const refused: string[] = [];
const unknown: string[] = [];
let repeated = 0;
let next = 0;

async function keepScheduling(): Promise<void> {
  while (next < JOBS) {
    const number = next++;
    const id = `job-${number}`;
    // Every other one is called again until it is answered; of the rest we look where their first call left them.
    const outcome = number % 2 === 0 ? await scheduleUntilAccepted(id) : await schedule(id);
    ({ accepted, refused, unknown })[outcome].push(id);
  }
}

async function schedule(id: string): Promise<'accepted' | 'refused' | 'unknown'> {
  try {
    await producer.schedule('work', null, { id, delay: '1 day' });
    return 'accepted';
  } catch (error) {
    if (error instanceof QueueUnavailableError) return error.outcome;
    throw error;
  }
}

async function scheduleUntilAccepted(id: string): Promise<'accepted'> {
  while ((await schedule(id)) !== 'accepted') repeated++;
  return 'accepted';
}

/** In the midst of the work: each time another part of the jobs has been begun. */
async function keepKilling(): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill++) {
    while (next < (JOBS * kill) / (KILLS + 1)) await sleep(1);
    await server.kill();
    await sleep(DOWN_MS);
    await server.restart();
  }
}

const startedAt = performance.now();
await Promise.all([keepKilling(), ...Array.from({ length: CALLERS }, keepScheduling)]);
const seconds = (performance.now() - startedAt) / 1_000;

const redis = new Redis(server.url);
const there = new Set(await redis.hkeys('durable:{default}:jobs'));
const waiting = new Set(await redis.zrange('durable:{default}:lane:5::work', '0', '-1'));
redis.disconnect();
const lost = accepted.filter((id) => !there.has(id) || !waiting.has(id));
const intruders = refused.filter((id) => there.has(id));
const unknownThere = unknown.filter((id) => there.has(id)).length;
const accountedFor = accepted.length + unknownThere === there.size && there.size === waiting.size;
process.stdout.write(
  `${JOBS} calls in ${seconds.toFixed(1)} s, redis-server killed ${KILLS} times: ${accepted.length} accepted, of which ${lost.length} are missing; ` +
    `${refused.length} refused, of which ${intruders.length} are there; ${unknown.length} unknown, of which ${unknownThere} are there; ${repeated} calls were repeated; ${there.size} jobs in all\n`,
);
await app.close();
await server.stop();
process.exitCode = lost.length === 0 && intruders.length === 0 && accountedFor ? 0 : 1;

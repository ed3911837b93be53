// A process for tests that runs handlers of so many ms, says what it logs and when a handler begins, and ends by the signals that it
// is sent, or closes its application when it is told to.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type LoggerService, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnScheduledJob, RedisScheduledQueueModule, ScheduledQueueConsumer } from 'nestjs-redis-scheduled-queue';

const { REDIS, PREFIX, WORK_MS, SHUTDOWN_TIMEOUT_MS, LEASE_MS, HOOKS, POP } = process.env;
const say = (line: string) => process.send?.(line);

const logger: LoggerService = {
  log: (message, context) => context === 'ScheduledQueue' && say(`log ${message}`),
  warn: (message, context) => context === 'ScheduledQueue' && say(`warn ${message}`),
  error: (message) => say(`error ${message}`),
};

@Injectable()
class Handlers implements OnModuleDestroy {
  @OnScheduledJob('work')
  async work(): Promise<void> {
    say('running');
    await sleep(Number(WORK_MS));
    say('ran');
  }

  onModuleDestroy(): void {
    say('destroyed');
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      shutdownTimeoutMs: Number(SHUTDOWN_TIMEOUT_MS),
      queues: { default: { leaseMs: Number(LEASE_MS ?? 60_000) } },
    }),
  ],
  providers: [Handlers],
})
class DrainerModule {}

const app = await NestFactory.createApplicationContext(DrainerModule, { logger });
if (HOOKS) app.enableShutdownHooks();
process.on('exit', (code) => say(`exit ${code}`));
process.once('message', async () => {
  await app.close();
  process.disconnect();
});
if (POP) await app.get(ScheduledQueueConsumer).pop({ names: ['popped'], waitMs: '10s' });
say('ready');

// The application of docs/dashboard.md, in a process of its own: Jest in a Node below 24.9 cannot load @bull-board/nestjs with Nest 12.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OnScheduledJob, RedisScheduledQueueModule, ScheduledJob } from 'nestjs-redis-scheduled-queue';
import { DashboardModule } from './dashboard/dashboard.module.js';

const { REDIS, PREFIX } = process.env;

// Stacks would name files of this machine, in the picture of the page too.
Error.stackTraceLimit = 0;

class Handlers {
  private readonly seen = new Set<string>();

  @OnScheduledJob('mail.send', { queue: 'mail', maxAttempts: 1 })
  send({ to }: { to: string }, { id }: ScheduledJob): { accepted: string } {
    if (to.endsWith('.example') && !this.seen.has(id)) {
      this.seen.add(id);
      throw new Error(`451 ${to}: greylisted, try again later`);
    }
    return { accepted: to };
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS!,
      prefix: PREFIX!,
      workerId: 'mailer-1',
      queues: { mail: { keepCompleted: 1_000 } },
      redact: ['password'],
    }),
    DashboardModule,
  ],
  providers: [Handlers],
})
class MailModule {}

Logger.overrideLogger(false);
const app = await NestFactory.create(MailModule);
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
process.send!(await app.getUrl());
// Lest it outlive the test.
process.on('disconnect', () => process.exit());

import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OnScheduledJob, RedisScheduledQueueModule } from 'nestjs-redis-scheduled-queue';
import { overrideScheduledQueue } from 'nestjs-redis-scheduled-queue/testing';

export class Mails {
  sent = 0;

  @OnScheduledJob('mail.send', { queue: 'mail' })
  send() {
    this.sent++;
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      queues: { mail: { concurrency: 5, rateLimit: { max: 1, perMs: '1h' } } },
    }),
  ],
  providers: [Mails],
})
class MailModule {}

/** The queue keeps its `concurrency` of 5, and has no `rateLimit`. */
export async function withoutTheLimit() {
  const builder = Test.createTestingModule({ imports: [MailModule] });
  overrideScheduledQueue(builder, {
    now: '2027-01-01T09:00:00Z',
    queues: { mail: { rateLimit: undefined } },
  });
  const app = await builder.compile();
  return await app.init();
}

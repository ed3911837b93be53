import { Injectable, Logger, Module } from '@nestjs/common';
import {
  type Duration,
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export const sendReminder = defineScheduledJob<{ to: string }>('reminder.send');

@Injectable()
export class Reminders {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  remind(to: string, delay: Duration) {
    return this.producer.schedule(sendReminder, { to }, { delay });
  }

  @OnScheduledJob(sendReminder)
  send({ to }: { to: string }) {
    new Logger('Reminders').log(`A reminder for ${to}`);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
    }),
  ],
  providers: [Reminders],
})
export class RemindersModule {}

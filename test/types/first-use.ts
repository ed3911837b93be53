// "A first use" of API.md: its four parts as printed, each between its own lines, put together with the imports that
// they need, an application's Mailer, and the place where `producer` comes from.
import { Injectable, Module } from '@nestjs/common';
import { IsEmail, IsInt } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';
import { ConfigService, Mailer } from './application.js';

// reminder.job.ts — one definition, shared by whoever schedules and whoever handles
export class SendReminder {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
}
export const sendReminder = defineScheduledJob('reminder.send', {
  payload: SendReminder,
  maxAttempts: 5,
  backoff: { type: 'exponential', delayMs: 1_000 },
});

// reminder.handlers.ts — any provider, any method
@Injectable()
export class ReminderHandlers {
  constructor(private readonly mailer: Mailer) {}

  @OnScheduledJob(sendReminder)
  async send(payload: SendReminder, job: ScheduledJob<SendReminder>): Promise<void> {
    await this.mailer.send(payload.email, { signal: job.signal });
  }
}

// reminder.service.ts
@Injectable()
export class ReminderService {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  async remind(): Promise<void> {
    const { producer } = this;
    // biome-ignore format: as printed
    const job = await producer.schedule(sendReminder, { userId: 7, email: 'a@b.c' }, { at: new Date('2027-01-01T09:00:00Z') });
    await producer.reschedule(job, { delay: '2h' });
    await producer.cancel(job);
  }
}

// app.module.ts
@Module({
  imports: [
    RedisScheduledQueueModule.forRootAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({ connection: config.getOrThrow('REDIS_URL') }),
    }),
  ],
  providers: [Mailer, ReminderHandlers, ReminderService],
})
export class AppModule {}

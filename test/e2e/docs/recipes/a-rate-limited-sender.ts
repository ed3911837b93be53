import { Injectable, Module } from '@nestjs/common';
import {
  defineScheduledJob,
  JobPriority,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

interface Mail {
  to: string;
  text: string;
}

export const sendMail = defineScheduledJob<Mail>('mail.send', {
  queue: 'mail',
});

@Injectable()
export class Mails {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  newsletter(readers: string[]) {
    const priority = JobPriority.BACKGROUND;
    return this.producer.scheduleMany(
      readers.map((to) => ({
        job: sendMail,
        payload: { to, text: 'News' },
        options: { priority },
      })),
    );
  }

  /** Goes before all newsletters that wait. */
  password(to: string) {
    const priority = JobPriority.CRITICAL;
    return this.producer.dispatch(
      sendMail,
      { to, text: 'A new password' },
      { priority },
    );
  }

  @OnScheduledJob(sendMail)
  send({ to }: Mail) {
    this.sent.push(to);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
      // The mail provider takes ten mails a second, from all processes.
      queues: { mail: { rateLimit: { max: 10, perMs: '1s' } } },
    }),
  ],
  providers: [Mails],
})
export class MailModule {}

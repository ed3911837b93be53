import { Injectable, Logger, Module } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  OnScheduledJobEvent,
  RedisScheduledQueueModule,
  ScheduledJob,
  type ScheduledQueueEventOf,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const welcome = defineScheduledJob<{ to: string }>('mail.welcome', {
  queue: 'mail',
  maxAttempts: 3, // was attempts: 3
  backoff: { type: 'exponential', delayMs: 1_000 }, // was delay: 1_000
});
const goodbye = defineScheduledJob<{ to: string }>('mail.goodbye', {
  queue: 'mail',
});

// Was @Processor('mail') with a process(job) that switched over job.name.
@Injectable()
export class Mails {
  readonly sent: string[] = [];
  private readonly logger = new Logger(Mails.name);

  constructor(private readonly producer: ScheduledQueueProducer) {}

  // Was mailQueue.add('welcome', { to }, { jobId: …, delay: 60_000 }).
  signedUp(to: string) {
    const id = `mail.welcome/${to}`;
    return this.producer.schedule(welcome, { to }, { id, delay: '1m' });
  }

  // Was mailQueue.add('goodbye', { to }).
  left(to: string) {
    return this.producer.dispatch(goodbye, { to });
  }

  @OnScheduledJob(welcome)
  welcome({ to }: { to: string }, job: ScheduledJob) {
    // Was job.attemptsMade, which is 0 in the first attempt.
    this.sent.push(`Welcome, ${to} (attempt ${job.attempt})`);
  }

  @OnScheduledJob(goodbye)
  goodbye({ to }: { to: string }) {
    this.sent.push(`Goodbye, ${to}`);
  }

  // Was @OnWorkerEvent('failed').
  @OnScheduledJobEvent('failed', { queue: 'mail' })
  onFailed({ name, id, error }: ScheduledQueueEventOf<'failed'>) {
    this.logger.warn(`${name} (${id}) failed: ${String(error)}`);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
      queues: {
        mail: {
          concurrency: 5,
          rateLimit: { max: 10, perMs: 1_000 }, // was limiter: { max, duration }
          keepCompleted: { count: 1_000 }, // was removeOnComplete: { count }
        },
      },
    }),
  ],
  providers: [Mails],
})
export class MailModule {}

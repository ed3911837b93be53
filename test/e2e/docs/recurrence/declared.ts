import { Injectable, Module } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
} from 'nestjs-redis-scheduled-queue';

interface Digest {
  days: number;
}

const sendDigest = defineScheduledJob<Digest>('digest.send');

@Injectable()
export class Digests {
  readonly sent: number[] = [];

  @OnScheduledJob(sendDigest, {
    cron: '0 7 * * MON-FRI',
    timeZone: 'Europe/Paris',
    recurrencePayload: { days: 1 },
  })
  @OnScheduledJob(sendDigest, {
    cron: '0 9 1 * *',
    timeZone: 'Europe/Paris',
    recurrenceId: 'digest.send/monthly',
    recurrencePayload: { days: 30 },
    onMissed: 'skip',
  })
  send({ days }: Digest) {
    this.sent.push(days);
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: process.env.QUEUE_PREFIX ?? 'shop',
      app: 'digests',
      revision: Number(process.env.RELEASE_NUMBER ?? 1),
    }),
  ],
  providers: [Digests],
})
export class DigestModule {}

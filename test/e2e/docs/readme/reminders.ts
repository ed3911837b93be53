import { Injectable, Logger } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const sendReminder = defineScheduledJob<{ to: string }>('reminder.send');

@Injectable()
export class Reminders {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  remind(to: string) {
    return this.producer.schedule(sendReminder, { to }, { delay: '10s' });
  }

  @OnScheduledJob(sendReminder)
  send({ to }: { to: string }) {
    new Logger('Reminders').log(`A reminder for ${to}`);
  }
}

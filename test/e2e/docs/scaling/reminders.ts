import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { defineScheduledJob, OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

/** Ten times as many as there are shards, so that shards can be added later. A tenant's jobs stay in one queue while this number stays. */
const QUEUES = Array.from({ length: 30 }, (_, i) => `reminders-${i}`);

interface Reminder {
  tenant: string;
  text: string;
}

const remind = defineScheduledJob<Reminder>('remind');

export const queueOf = (tenant: string) =>
  QUEUES[createHash('md5').update(tenant).digest().readUInt32BE(0) % QUEUES.length]!;

/** One method for all of them. */
function OnRemind() {
  return (target: object, key: string, descriptor: TypedPropertyDescriptor<(reminder: Reminder) => void>) => {
    for (const queue of QUEUES) OnScheduledJob(remind, { queue })(target, key, descriptor);
  };
}

@Injectable()
export class Reminders {
  readonly sent: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  schedule(tenant: string, text: string, at: Date) {
    return this.producer.schedule(remind, { tenant, text }, { at, queue: queueOf(tenant) });
  }

  @OnRemind()
  send({ tenant, text }: Reminder) {
    this.sent.push(`${text} to ${tenant}`);
  }
}

import { Injectable } from '@nestjs/common';
import { OnScheduledJob, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';

/** For `forRoot({ workerId: process.env.HOSTNAME, queues })`: each process has an id of its own. */
export const queues = { default: { stealAfterMs: 2_000 } };

@Injectable()
export class Thumbnails {
  readonly made: string[] = [];

  constructor(private readonly producer: ScheduledQueueProducer) {}

  /** `worker` is the id of the process that has the album open. */
  make = (image: string, worker: string) => this.producer.dispatch('thumbnail', image, { worker });

  @OnScheduledJob('thumbnail')
  draw(image: string) {
    this.made.push(image);
  }
}

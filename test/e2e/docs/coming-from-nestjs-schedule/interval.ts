import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from 'nestjs-redis-scheduled-queue';

@Injectable()
export class Tasks {
  runs = 0;

  @OnScheduledJob('tasks.sweep', { everyMs: '10m' })
  sweep() {
    this.runs++;
  }
}

import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
} from 'nestjs-redis-scheduled-queue';

export abstract class Sessions {
  abstract deleteExpired(): Promise<void>;
}

const cleanUp = defineScheduledJob('sessions.clean-up');

@Injectable()
export class NightlyCleanUp {
  constructor(private readonly sessions: Sessions) {}

  @OnScheduledJob(cleanUp, { cron: '0 3 * * *', timeZone: 'Europe/Paris' })
  async run() {
    await this.sessions.deleteExpired();
  }
}

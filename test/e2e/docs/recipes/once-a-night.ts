import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export abstract class Sessions {
  abstract deleteExpired(): Promise<void>;
}

const cleanUp = defineScheduledJob<{ night: string }>('sessions.clean-up');

@Injectable()
export class NightlyCleanUp implements OnApplicationBootstrap {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly sessions: Sessions,
  ) {}

  async onApplicationBootstrap() {
    await this.scheduleNightAfter(Date.now());
  }

  @OnScheduledJob(cleanUp)
  async run({ night }: { night: string }) {
    // First, so that a failure does not end the chain.
    await this.scheduleNightAfter(Math.max(Date.now(), Date.parse(night)));
    await this.sessions.deleteExpired();
  }

  /** The id names the night, so each night has one job, however many ask. */
  private async scheduleNightAfter(time: number) {
    const night = nightAfter(time).toISOString();
    const id = `sessions.clean-up/${night}`;
    await this.producer.schedule(cleanUp, { night }, { id, at: night });
  }
}

/** The first 3 a.m. (UTC) after a time. */
export function nightAfter(time: number): Date {
  const night = new Date(time);
  night.setUTCHours(3, 0, 0, 0);
  if (night.getTime() <= time) night.setUTCDate(night.getUTCDate() + 1);
  return night;
}

import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

interface Video {
  file: string;
  owner: string;
}

export abstract class Converter {
  abstract convert(file: string): Promise<void>;
}

export const convert = defineScheduledJob<Video>('video.convert', {
  queue: 'videos',
  backoff: { type: 'fixed', delayMs: 100 },
});
export const tellOwner = defineScheduledJob<Video>('mail.converted', {
  queue: 'mails',
});

@Injectable()
export class Videos {
  readonly told: string[] = [];

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly converter: Converter,
  ) {}

  @OnScheduledJob(convert)
  async convert(video: Video, job: ScheduledJob<Video>) {
    await this.converter.convert(video.file);
    // If this job runs twice, both runs name one mail.
    await this.producer.schedule(tellOwner, video, { id: `${job.id}/mail` });
  }

  @OnScheduledJob(tellOwner)
  tellOwner({ file, owner }: Video) {
    this.told.push(`${owner}: ${file}`);
  }
}

import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export abstract class Scanner {
  /** The name of what it has found. */
  abstract scan(file: string): Promise<string | undefined>;
}

interface Archive {
  path: string;
}

const audit = defineScheduledJob<{ file: string }>('release.audit');
const compress = defineScheduledJob<{ file: string }>('release.compress');
const publish = defineScheduledJob<{ channel: string }>('release.publish');

@Injectable()
export class Releases {
  readonly published: string[] = [];

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly scanner: Scanner,
  ) {}

  release(file: string) {
    return this.producer.schedule(
      audit,
      { file },
      {
        then: [
          { job: compress, payload: { file }, options: { maxAttempts: 3 } },
          { job: publish, payload: { channel: 'stable' } },
        ],
      },
    );
  }

  @OnScheduledJob(audit)
  async audit({ file }: { file: string }) {
    const virus = await this.scanner.scan(file);
    // Nothing follows a job that is discarded.
    return virus && JobOutcome.discard(virus);
  }

  @OnScheduledJob(compress)
  compress({ file }: { file: string }): Archive {
    return { path: `${file}.zst` };
  }

  @OnScheduledJob(publish)
  publish(
    { channel }: { channel: string },
    { chain }: ScheduledJob<{ channel: string }>,
  ) {
    const { path } = chain!.result as Archive;
    this.published.push(`${path} in ${channel}`);
  }
}

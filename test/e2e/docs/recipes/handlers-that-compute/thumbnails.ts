// thumbnails.ts
import { resolve } from 'node:path';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';
import { Piscina } from 'piscina';
import type { Shrinking } from './thumbnails.thread.js';

export abstract class PhotoStore {
  abstract read(name: string): Promise<{ pixels: ArrayBuffer; width: number }>;
  abstract saveThumbnail(name: string, pixels: ArrayBuffer): Promise<void>;
}

const THREADS = 2;

@Injectable()
export class PhotoThreads
  extends Piscina<Shrinking, ArrayBuffer>
  implements OnModuleDestroy
{
  constructor() {
    super({
      filename: resolve('dist/thumbnails.thread.js'),
      maxThreads: THREADS,
      resourceLimits: { maxOldGenerationSizeMb: 128 },
      // A thread that is ended while it requires an ES module ends the process.
      execArgv: ['--no-experimental-require-module'],
    });
    // A thread that fails outside of a task. Unheard, it ends the process.
    this.on('error', (error: Error) => {
      new Logger(PhotoThreads.name).error(error.message, error.stack);
    });
  }

  onModuleDestroy() {
    return this.destroy();
  }
}

export const makeThumbnail = defineScheduledJob<{
  photo: string;
  step: number;
}>('photo.thumbnail', { timeoutMs: '30s' });

@Injectable()
export class Thumbnails {
  constructor(
    private readonly photos: PhotoStore,
    private readonly threads: PhotoThreads,
  ) {}

  @OnScheduledJob(makeThumbnail, { concurrency: THREADS })
  async make(
    { photo, step }: { photo: string; step: number },
    job: ScheduledJob,
  ) {
    const { pixels, width } = await this.photos.read(photo);
    const thumbnail = await this.threads.run(
      { pixels, width, step },
      { signal: job.signal, transferList: [pixels] },
    );
    await this.photos.saveThumbnail(photo, thumbnail);
  }
}

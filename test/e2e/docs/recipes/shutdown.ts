import { setTimeout } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
} from 'nestjs-redis-scheduled-queue';

@Injectable()
export class RowExport {
  exported = 0;

  @OnScheduledJob('rows.export')
  async run(pages: number, job: ScheduledJob<number>) {
    for (let page = 1; page <= pages; page++) {
      await this.exportPage(page);
      job.signal.throwIfAborted();
    }
  }

  private async exportPage(page: number) {
    await setTimeout(10); // in place of the real work
    this.exported = page;
  }
}

const isProduction = process.env.NODE_ENV === 'production';

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
      // A hot reload should not wait long for a running job.
      shutdownTimeoutMs: isProduction ? '20s' : '1s',
    }),
  ],
  providers: [RowExport],
})
export class AppModule {}

export async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
  return app;
}

import { Controller, Injectable, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type Role,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const makeReport = defineScheduledJob<{ userId: string }>('report.make');

@Controller('reports')
export class ReportsController {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @Post(':userId')
  make(@Param('userId') userId: string) {
    return this.producer.dispatch(makeReport, { userId });
  }
}

@Injectable()
export class ReportHandlers {
  readonly made: string[] = [];

  @OnScheduledJob(makeReport)
  make({ userId }: { userId: string }) {
    this.made.push(userId);
  }
}

const queueFor = (role: Role) =>
  RedisScheduledQueueModule.forRoot({
    connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
    prefix: 'shop',
    role,
  });

@Module({ imports: [queueFor('producer')], controllers: [ReportsController] })
export class ApiModule {}

@Module({ imports: [queueFor('worker')], providers: [ReportHandlers] })
export class WorkerModule {}

// api.ts
export async function startApi() {
  const app = await NestFactory.create(ApiModule);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
  return app;
}

// worker.ts: no HTTP server
export async function startWorker() {
  const app = await NestFactory.createApplicationContext(WorkerModule);
  app.enableShutdownHooks();
  return app;
}

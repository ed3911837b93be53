import {
  Controller,
  Get,
  Module,
  NotFoundException,
  Param,
  Post,
} from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const makeReport = defineScheduledJob<{ year: number }>('report.make');

@Controller('reports')
export class ReportsController {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly inspector: ScheduledQueueInspector,
  ) {}

  @Post(':year')
  async order(@Param('year') year: string) {
    const payload = { year: Number(year) };
    const { id } = await this.producer.dispatch(makeReport, payload);
    return { id };
  }

  @Get(':id')
  async state(@Param('id') id: string) {
    const job = await this.inspector.job(id);
    // Also of a job of another kind: an id says nothing of who may ask.
    if (job?.name !== makeReport.name) throw new NotFoundException();
    const { state, progress, result, reason } = job;
    return { state, progress, result, reason };
  }

  @OnScheduledJob(makeReport)
  async make({ year }: { year: number }, job: ScheduledJob) {
    await job.progress({ done: 1, of: 2 });
    return { url: `https://example.com/reports/${year}.pdf` };
  }
}

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop',
      // Without it nothing is left of a job that has completed.
      queues: { default: { keepCompleted: { count: 10_000, ageMs: '1h' } } },
    }),
  ],
  controllers: [ReportsController],
})
export class ReportsModule {}

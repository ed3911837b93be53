import { Controller, Injectable, Logger, Module, Param, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

const encodeFilm = defineScheduledJob<{ film: string }>('film.encode', {
  queue: 'video',
  timeoutMs: '2h',
});
const sendMail = defineScheduledJob<{ text: string }>('mail.send', {
  queue: 'mail',
});

@Controller('films')
class FilmsController {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @Post(':film')
  uploaded(@Param('film') film: string) {
    return this.producer.dispatch(encodeFilm, { film });
  }
}

@Injectable()
class Films {
  private readonly logger = new Logger(Films.name);

  constructor(private readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob(encodeFilm)
  async encode({ film }: { film: string }) {
    this.logger.log(`Encoding ${film} …`);
    await this.producer.dispatch(sendMail, { text: `${film} is there` });
  }

  @OnScheduledJob(sendMail)
  send({ text }: { text: string }) {
    this.logger.log(`A mail: ${text}`);
  }
}

type Deployment = Pick<RedisScheduledQueueModuleOptions, 'role' | 'runs' | 'shutdownTimeoutMs'>;

/** One image for all. DEPLOYMENT says which of them a process belongs to. */
const DEPLOYMENTS: Record<string, Deployment> = {
  // On a developer's machine: one process does everything.
  all: {},
  api: { role: 'producer' },
  mail: { role: 'worker', runs: ['mail'] },
  video: { role: 'worker', runs: ['video'], shutdownTimeoutMs: '10m' },
};

const { DEPLOYMENT = 'all', REDIS_URL, PORT, QUEUE_PREFIX } = process.env;
const deployment = DEPLOYMENTS[DEPLOYMENT];
if (!deployment) throw new Error(`Unknown DEPLOYMENT: ${DEPLOYMENT}`);

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: REDIS_URL ?? 'redis://localhost:6379',
      prefix: QUEUE_PREFIX ?? 'shop',
      // The same in every deployment.
      queues: { mail: { concurrency: 50 }, video: { concurrency: 2 } },
      ...deployment,
    }),
  ],
  controllers: [FilmsController],
  providers: [Films],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(PORT ?? 3000);
}
void bootstrap();

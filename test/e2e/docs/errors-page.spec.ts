import { afterEach, expect, it } from '@jest/globals';
import { Controller, type INestApplication, Injectable, type ModuleMetadata, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  OnScheduledJob,
  QueueUnavailableError,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { JobsController } from './errors-page/jobs.controller.js';
import { ErrorsModule } from './errors-page/queue-unavailable.filter.js';

@Controller('orders')
class OrdersController {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @Post()
  order() {
    return this.producer.dispatch('order', null);
  }
}

@Injectable()
class Handlers {
  @OnScheduledJob('order')
  handle() {
    throw new QueueUnavailableError('No Redis in a handler.', 'refused');
  }
}

let app: INestApplication | undefined;

afterEach(() => app?.close());

it('the filter of docs/errors.md answers 503 while Redis is away', async () => {
  const url = await start({ controllers: [OrdersController] }, { connection: 'redis://127.0.0.1:1', role: 'producer' });
  const response = await fetch(`${url}/orders`, { method: 'POST' });
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ message: 'Try again later' });
});

it('in a handler it fails the attempt', async () => {
  await start({ providers: [Handlers] }, { inheritAppConfig: true });
  const job = await app!.get(ScheduledQueueProducer).dispatch('order', null);
  const inspector = app!.get(ScheduledQueueInspector);
  const failures = await until('it has failed', async () => {
    const found = (await inspector.job(job))!.failures;
    return found.length > 0 && found;
  });
  expect(failures).toMatchObject([{ name: 'QueueUnavailableError', message: 'No Redis in a handler.' }]);
});

it('the controller of docs/errors.md tells why a job does not run', async () => {
  const url = await start({ controllers: [JobsController] });
  const producer = app!.get(ScheduledQueueProducer);
  const { id } = await producer.dispatch('order', null, { queue: 'orders' });
  const explained = await fetch(`${url}/jobs/orders/${id}`);
  expect(await explained.json()).toMatchObject({ code: 'no-handler' });
  const elsewhere = await fetch(`${url}/jobs/default/${id}`);
  expect(await elsewhere.json()).toMatchObject({ code: 'unknown' });
});

/** Starts an application with the filter, and answers its address. */
async function start(metadata: ModuleMetadata, options: RedisScheduledQueueModuleOptions = {}): Promise<string> {
  const queue = { connection: redisUrl(), prefix: newPrefix(), commandTimeoutMs: 2_000, ...options };
  const module = await Test.createTestingModule({
    ...metadata,
    imports: [ErrorsModule, RedisScheduledQueueModule.forRoot(queue)],
  })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  app = module.createNestApplication();
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

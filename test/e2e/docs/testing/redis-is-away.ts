import assert from 'node:assert/strict';
import { type ArgumentsHost, Catch, Controller, Module, Post, ServiceUnavailableException } from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import { QueueUnavailableError, ScheduledQueueProducer } from 'nestjs-redis-scheduled-queue';
import type { ScheduledQueueTester } from 'nestjs-redis-scheduled-queue/testing';

@Catch(QueueUnavailableError)
class QueueUnavailableFilter extends BaseExceptionFilter {
  override catch(error: QueueUnavailableError, host: ArgumentsHost) {
    if (host.getType() !== 'http') throw error;
    super.catch(new ServiceUnavailableException('Try again later'), host);
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly producer: ScheduledQueueProducer) {}

  @Post()
  async order() {
    await this.producer.schedule('order.ship', null, { delay: '1 day' });
  }
}

@Module({
  controllers: [OrdersController],
  providers: [{ provide: APP_FILTER, useClass: QueueUnavailableFilter }],
})
export class OrdersModule {}

/** `url`: of the application, which listens. */
export async function answers503(url: string, tester: ScheduledQueueTester): Promise<void> {
  tester.redisAway();
  assert.equal((await fetch(`${url}/orders`, { method: 'POST' })).status, 503);

  tester.redisAway(false);
  assert.equal((await fetch(`${url}/orders`, { method: 'POST' })).status, 201);
  tester.expectScheduled('order.ship');
}

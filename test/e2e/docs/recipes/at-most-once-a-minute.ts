import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export abstract class ShopIndex {
  abstract update(shopId: string): Promise<void>;
}

const indexShop = defineScheduledJob<{ shopId: string }>('shop.index', {
  onDuplicate: 'replace',
  throttleMs: '1m',
});

@Injectable()
export class Shops {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly index: ShopIndex,
  ) {}

  changed(shopId: string) {
    return this.producer.schedule(
      indexShop,
      { shopId },
      { id: `shop.index/${shopId}` },
    );
  }

  @OnScheduledJob(indexShop)
  async update({ shopId }: { shopId: string }) {
    await this.index.update(shopId);
  }
}

import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export abstract class SearchIndex {
  abstract update(documentId: string): Promise<void>;
}

const indexDocument = defineScheduledJob<{ documentId: string }>(
  'document.index',
  { onDuplicate: 'replace' },
);

@Injectable()
export class Documents {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly index: SearchIndex,
  ) {}

  changed(documentId: string) {
    return this.producer.schedule(
      indexDocument,
      { documentId },
      { id: `document.index/${documentId}`, delay: '5s' },
    );
  }

  @OnScheduledJob(indexDocument)
  async update({ documentId }: { documentId: string }) {
    await this.index.update(documentId);
  }
}

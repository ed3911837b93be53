import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

export interface Draft {
  userId: string;
  text: string;
}

export abstract class DraftStore {
  abstract save(draft: Draft): Promise<void>;
}

const saveDraft = defineScheduledJob<Draft>('draft.save', {
  onDuplicate: 'replace',
  maxWaitMs: '30s',
});

@Injectable()
export class Drafts {
  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly store: DraftStore,
  ) {}

  typed(draft: Draft) {
    return this.producer.schedule(saveDraft, draft, {
      id: `draft.save/${draft.userId}`,
      delay: '3s',
    });
  }

  @OnScheduledJob(saveDraft)
  async save(draft: Draft) {
    await this.store.save(draft);
  }
}

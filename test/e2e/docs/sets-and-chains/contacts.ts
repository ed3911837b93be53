import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

interface Page {
  contacts: string[];
  /** Of the next page; missing on the last one. */
  next?: string;
}

export abstract class Crm {
  abstract page(cursor: string): Promise<Page>;
}

const fetchPage = defineScheduledJob<{ cursor: string }>('contacts.page');
const contactsFetched = defineScheduledJob('contacts.fetched');

@Injectable()
export class Contacts {
  readonly found: string[] = [];
  pages = 0;

  constructor(
    private readonly producer: ScheduledQueueProducer,
    private readonly crm: Crm,
  ) {}

  async fetchAll(day: string) {
    const set = `contacts/${day}`;
    await this.producer.openSet(set, { done: { job: contactsFetched } });
    await this.producer.schedule(fetchPage, { cursor: 'first' }, { set });
    // Nobody knows yet how many pages there are.
    await this.producer.closeSet(set);
  }

  @OnScheduledJob(fetchPage)
  async fetchPage(
    { cursor }: { cursor: string },
    { set }: ScheduledJob<{ cursor: string }>,
  ) {
    const { contacts, next } = await this.crm.page(cursor);
    this.found.push(...contacts);
    // This page is pending until it has ended, so the next one is in time.
    if (next)
      await this.producer.schedule(
        fetchPage,
        { cursor: next },
        { set, id: `${set}/${next}` },
      );
  }

  @OnScheduledJob(contactsFetched)
  fetched(_: unknown, job: ScheduledJob) {
    this.pages = job.setDone!.total;
  }
}

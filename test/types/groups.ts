// What must compile of groups, and, below each directive, what must not.
import {
  defineScheduledJob,
  type GroupOptions,
  type InspectedGroup,
  type JobDefinitionOptions,
  type QueueOptions,
  type ScheduledJob,
  type ScheduledQueueInspector,
  type ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';

class Invoice {
  tenant!: string;
  region?: string;
  dueOn!: Date;

  name(): string {
    return this.tenant;
  }
}

interface Import {
  of: { account: number };
  at: Date;
}

/** Options may be written down before their definition. */
const shared: JobDefinitionOptions = { maxAttempts: 3, group: ({ tenant }: { tenant: string }) => tenant };

const bill = defineScheduledJob('bill', { payload: Invoice, group: ({ tenant }) => tenant, queue: 'mail' });
export const definitions = [
  defineScheduledJob('a', { group: 'housekeeping' }),
  defineScheduledJob('b', { payload: Invoice, group: ({ region }) => region }),
  defineScheduledJob('c', { ...shared, payload: Invoice }),
  // As it is given to the call, a Date is one.
  defineScheduledJob<Import>('d', { group: ({ of, at }) => `${of.account}/${at.getFullYear()}` }),
  defineScheduledJob<void>('e', { group: () => undefined }),
  // biome-ignore lint/suspicious/noExplicitAny: an application may have such definitions
  defineScheduledJob<any>('f', { group: (payload) => payload.tenant }),
  // @ts-expect-error an answer that nobody waits for
  defineScheduledJob<Import>('g', { group: async ({ of }) => String(of.account) }),
  // @ts-expect-error an answer that is no text
  defineScheduledJob<Import>('h', { group: ({ of }) => of.account }),
  // @ts-expect-error a method, which a payload that is a plain object has not
  defineScheduledJob('i', { payload: Invoice, group: (invoice) => invoice.name() }),
  // @ts-expect-error a function of another payload
  defineScheduledJob('j', { payload: Invoice, group: ({ account }: { account: string }) => account }),
  // @ts-expect-error none, which a definition says by leaving it out
  defineScheduledJob('k', { group: null }),
];

export async function scheduling(producer: ScheduledQueueProducer): Promise<void> {
  const invoice = { tenant: 'a', dueOn: new Date() };
  await producer.schedule(bill, invoice, { group: 'b', delay: '1m' });
  await producer.dispatch(bill, invoice, { group: null });
  await producer.scheduleMany([{ job: bill, payload: invoice, options: { group: 'b' } }]);
  await producer.upsertRecurrence('r', bill, invoice, { everyMs: 1_000 }, { group: 'b' });
  // @ts-expect-error a function, which only a definition may have
  await producer.schedule(bill, invoice, { group: ({ tenant }) => tenant });
}

export function handled(job: ScheduledJob): string {
  return job.group ?? 'nobody';
}

export async function manage(inspector: ScheduledQueueInspector): Promise<InspectedGroup[]> {
  const settings: GroupOptions = { weight: 0.5, concurrency: 'unlimited', rateLimit: { max: 5, perMs: '1m' } };
  await inspector.setGroup('a', settings, { queue: 'mail' });
  await inspector.setGroup('a', {});
  await inspector.pauseGroup('a');
  await inspector.pauseGroup('a', { forMs: '5m', queue: 'mail' });
  await inspector.resumeGroup('a', { queue: 'mail' });
  const { heldBy, pausedUntil, rateLimit } = await inspector.group('a', { queue: 'mail' });
  if (heldBy === 'rate' && rateLimit !== 'unlimited' && rateLimit) await inspector.setGroup('a', { rateLimit });
  const until: Date | null = pausedUntil;
  if (until) await inspector.find({ group: 'a', states: ['due'] });
  // @ts-expect-error nothing to set: {} forgets what was set
  await inspector.setGroup('a');
  // @ts-expect-error an order of one group: it is that of a queue
  await inspector.setGroup('a', { order: 'fifo' });
  // @ts-expect-error a word that does not exist
  await inspector.setGroup('a', { concurrency: 'none' });
  // @ts-expect-error what holds no group
  if (heldBy === 'blackout') return [];
  return inspector.groups({ limit: 10, queue: 'mail' });
}

export const queues: Record<string, QueueOptions> = {
  mail: { groups: { concurrency: 2, rateLimit: { max: 5, perMs: '1s' } } },
  orders: { groups: { order: 'fifo' } },
  // @ts-expect-error an order that does not exist
  stack: { groups: { order: 'lifo' } },
  // @ts-expect-error an option of single groups
  heavy: { groups: { weight: 2 } },
};

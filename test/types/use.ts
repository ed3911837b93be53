// What must compile: uses that a careful user may make.
import { Controller, Injectable } from '@nestjs/common';
import {
  currentScheduledJob,
  type DeadFilter,
  type Duration,
  defineScheduledJob,
  getScheduledQueueToken,
  InjectScheduledQueue,
  JobPriority,
  type JobRef,
  type JsonOf,
  OnScheduledJob,
  OnScheduledJobEvent,
  type PayloadCodec,
  type PayloadOf,
  type PopOptions,
  type PoppedJob,
  type QueueOptions,
  type RateLimit,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  type RelayOptions,
  relayKey,
  ScheduledJob,
  type ScheduledJobDefinition,
  type ScheduledJobRef,
  ScheduledQueueConsumer,
  type ScheduledQueueEvent,
  type ScheduledQueueEventOf,
  type ScheduledQueueInspector,
  type ScheduledQueueOptionsFactory,
  ScheduledQueueProducer,
  type ScheduledQueueRelay,
  type ScheduleItem,
  type ScheduleStatus,
  type SharedOptions,
} from 'nestjs-redis-scheduled-queue';
import { messagePackCodec } from 'nestjs-redis-scheduled-queue/msgpack';
import { ConfigService } from './application.js';

class Address {
  street!: string;

  line(): string {
    return this.street;
  }
}

const base64 = {
  id: 'base64',
  encode: (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString('base64'),
  decode: (stored: string): unknown => JSON.parse(Buffer.from(stored, 'base64').toString()),
};

const vault: PayloadCodec<string> = {
  id: 'vault',
  encode: async (payload) => JSON.stringify(payload),
  decode: async (stored) => JSON.parse(stored),
};

class Sealed implements PayloadCodec<Uint8Array> {
  readonly id = 'sealed';

  encode(payload: unknown) {
    return Buffer.from(JSON.stringify(payload));
  }

  decode(stored: Buffer): unknown {
    return JSON.parse(stored.toString());
  }
}

type UserId = string & { readonly brand: 'UserId' };

interface Tree {
  name: string;
  children: Tree[];
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

interface Everything {
  user: UserId;
  byName: Record<string, Date>;
  pair: readonly [number, Address];
  nothing: null;
  maybe?: Date | string;
  any: unknown;
}

class Invoice {
  id!: number;
  dueOn!: Date;
  note?: string;
  address!: Address;
  lines!: { text: string; amount: number }[];

  total(): number {
    return this.lines.reduce((sum, { amount }) => sum + amount, 0);
  }
}

interface Import {
  file: string;
  at: Date;
}

const sendInvoice = defineScheduledJob('invoice.send', { payload: Invoice, queue: 'mail', priority: JobPriority.HIGH });
const importFile = defineScheduledJob<Import>('file.import', {
  backoff: { type: 'fixed', delayMs: '10s', jitter: 0.1 },
});
const charge = defineScheduledJob<{ amount: number }>('charge', {
  backoff: (attempt, error, job) => (error instanceof TypeError ? attempt * 1_000 : `${job.attempt}m`),
  timeoutMs: '30s',
  maxLatenessMs: '1h',
  onLate: 'dead-letter',
});
const ping = defineScheduledJob<void>('ping');
const anything = defineScheduledJob<unknown>('anything');
const tick = defineScheduledJob('tick', { queue: 'clock' });
const count = defineScheduledJob<number>('count');
// biome-ignore lint/suspicious/noExplicitAny: an application may have such definitions
const unchecked = defineScheduledJob<any>('unchecked');
const list = defineScheduledJob<string[]>('list');
const everything = defineScheduledJob<Everything>('everything');
const tree = defineScheduledJob<Tree>('tree');
const json = defineScheduledJob<Json>('json');
const annotated: ScheduledJobDefinition<Import> = importFile;
const annotatedAsJson: ScheduledJobDefinition<Import, 'json'> = importFile;
const either = defineScheduledJob<{ kind: 'a'; a: number } | { kind: 'b'; b: string }>('either');

const invoice = { id: 1, dueOn: new Date(), address: { street: 'Main 1' }, lines: [{ text: 'a', amount: 1 }] };

export async function scheduling(producer: ScheduledQueueProducer): Promise<ScheduledJobRef[]> {
  // A plain literal for a class with methods, and an instance of it; a Date stays one.
  await producer.schedule(sendInvoice, invoice, { delay: '3 days', id: 'invoice:1', onDuplicate: 'replace' });
  const latest = { id: 'invoice:2', onDuplicate: 'replace' } as const;
  await producer.schedule(sendInvoice, invoice, { ...latest, delay: '3s', maxWaitMs: '30s' });
  await producer.schedule(sendInvoice, invoice, { ...latest, throttleMs: 60_000 });
  await producer.schedule(sendInvoice, { ...invoice, note: 'n' }, { at: '2027-01-01T09:00:00Z', headers: { a: 'b' } });
  await producer.schedule(sendInvoice, new Invoice());
  await producer.schedule(charge, { amount: 7 }, { timeoutMs: 0, maxLatenessMs: 5, onLate: 'discard' });
  await producer.schedule(importFile, { file: 'a.csv', at: new Date() }, { at: Date.now(), maxAttempts: 3 });

  // A job without a payload needs no argument, and one that is undefined where options follow.
  await producer.schedule(ping);
  await producer.schedule(ping, undefined);
  await producer.schedule(ping, undefined, { delay: '1m' });
  await producer.schedule(tick);
  await producer.schedule(tick, undefined, { delay: '1m' });
  await producer.dispatch(ping);
  await producer.dispatch(tick);
  await producer.dispatch(ping, undefined, { priority: 1 });

  await producer.schedule(anything, { any: ['thing'] });
  await producer.schedule(anything, 'text');
  await producer.schedule(count, 7);
  await producer.schedule(list, ['a']);
  // Nested instances lose their methods too; dates, brands, tuples and records stay what they are.
  const user = 'u7' as UserId;
  const byName = { now: new Date() };
  await producer.schedule(everything, { user, byName, pair: [1, { street: 'Main 1' }], nothing: null, any: 7 });
  await producer.schedule(either, { kind: 'b', b: 'x' });
  await producer.schedule('by.name', { whatever: true }, { queue: 'mail' });
  await producer.dispatch('by.name', null);

  const delay: Duration = 5_000;
  const ref: JobRef = await producer.dispatch(sendInvoice, invoice, { id: 'x' });
  const moved: boolean = await producer.reschedule(ref, { delay });
  const run: boolean = await producer.runNow('id', { queue: 'mail' });
  const gone: boolean = await producer.cancel({ id: 'x', queue: 'mail' });
  if (moved && run && gone) return [];

  // Two definitions, one without a payload and a name, typed item by item.
  await producer.scheduleMany([]);
  await producer.scheduleMany([{ job: ping }]);
  const rows = [1, 2, 3];
  const items = rows.map((amount) => ({ job: count, payload: amount, options: { delay: '1m' as const } }));
  await producer.scheduleMany(items);
  const more: ScheduleItem<number>[] = items;
  await producer.scheduleMany(more);
  const mixed: ScheduleItem[] = [
    { job: count, payload: 7 },
    { job: 'by.name', payload: null },
  ];
  await producer.scheduleMany(mixed);
  return producer.scheduleMany([
    { job: sendInvoice, payload: invoice },
    { job: importFile, payload: { file: 'a.csv', at: new Date() }, options: { delay: '1h' } },
    { job: ping },
    { job: ping, payload: undefined, options: { delay: '1m' } },
    { job: unchecked, payload: { any: 'thing' } },
    { job: either, payload: { kind: 'a', a: 1 } },
    { job: 'by.name', payload: { whatever: true } },
  ]);
}

@Injectable()
export class Handlers {
  constructor(@InjectScheduledQueue(ScheduledQueueProducer, 'reports') readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob(sendInvoice)
  async both(payload: Invoice, job: ScheduledJob<Invoice>): Promise<number> {
    return payload.total() + job.payload.total() + job.attempt;
  }

  @OnScheduledJob(sendInvoice, { queue: 'slow', maxAttempts: 2, backoff: { type: 'fixed', delayMs: 5 } })
  payloadOnly(payload: Invoice): number {
    return payload.total();
  }

  @OnScheduledJob('invoice.by-name', { payload: Invoice })
  ofAClass(payload: Invoice, job: ScheduledJob<Invoice>): number {
    return payload.total() + job.payload.total();
  }

  @OnScheduledJob(sendInvoice, { instance: 'reports' })
  withoutParameters(): void {}

  @OnScheduledJob(sendInvoice)
  lessOfIt(payload: { id: number }, job: ScheduledJob): string {
    return `${payload.id} ${job.id}`;
  }

  @OnScheduledJob(ping)
  pinged(_payload: undefined, job: ScheduledJob<void>): Date {
    return job.dueAt;
  }

  @OnScheduledJob(ping)
  // biome-ignore lint/suspicious/noConfusingVoidType: what the definition says
  pingedByVoid(_payload: void, { id }: ScheduledJob<void>): string {
    return id;
  }

  @OnScheduledJob(ping)
  pingedByUnknown(payload: unknown): unknown {
    return payload;
  }

  @OnScheduledJob(ping)
  pingedWithoutParameters(): string {
    return 'kept as the result';
  }

  @OnScheduledJob(importFile)
  @OnScheduledJob('file.import.again')
  several({ file, at }: JsonOf<Import>, { signal, payload }: ScheduledJob<JsonOf<Import>>): void {
    signal.throwIfAborted();
    console.log(file, at.slice(0, 10), payload.at.length);
  }

  @OnScheduledJob(importFile)
  inOwnWords(payload: { file: string; at: string }, job: ScheduledJob<{ at: string }>): string {
    return payload.at + job.payload.at;
  }

  @OnScheduledJob(everything)
  brandsStay({ user }: { user: UserId }): UserId {
    return user;
  }

  @OnScheduledJob(either)
  unionsStay(payload: { kind: 'a'; a: number } | { kind: 'b'; b: string }): string | number {
    return payload.kind === 'a' ? payload.a : payload.b;
  }

  @OnScheduledJob(tree)
  recursive(payload: Tree): number {
    return payload.children.length;
  }

  @OnScheduledJob(json)
  anyJson(payload: Json): Json {
    return payload;
  }

  @OnScheduledJob(tick)
  ticked(payload: undefined): void {
    console.log(payload);
  }

  // What is written in a type says nothing of the class: the handler may name it as it was sent.
  @OnScheduledJob(annotated)
  annotated(payload: Import): Date {
    return payload.at;
  }

  @OnScheduledJob(annotatedAsJson)
  annotatedAsJson(payload: { at: string }): string {
    return payload.at;
  }

  @OnScheduledJob('by.name')
  byName(payload: { userId: number }, job: ScheduledJob<{ userId: number }>): number {
    return payload.userId + job.payload.userId;
  }

  @OnScheduledJob('by.name.alone')
  byNameAlone(): void {}

  @OnScheduledJob(unchecked)
  uncheckedPayload(payload: { userId: number }): number {
    return payload.userId;
  }

  @OnScheduledJob(anything)
  unknownPayload(payload: unknown): void {
    console.log(payload);
  }
}

@Controller()
export class OnAController {
  @OnScheduledJob(count)
  async count(amount: number): Promise<void> {
    console.log(amount.toFixed());
  }
}

class OptionsFactory implements ScheduledQueueOptionsFactory {
  createScheduledQueueOptions(): RedisScheduledQueueModuleOptions {
    return { connection: { host: 'redis', port: 6379 } };
  }
}

export const modules = [
  RedisScheduledQueueModule.forRoot({}),
  RedisScheduledQueueModule.forRoot({
    connection: { cluster: { nodes: [{ host: 'redis', port: 6379 }] } },
    prefix: 'app',
    role: 'worker',
    workerId: 'worker-1',
    queues: { mail: { concurrency: 50, leaseMs: '30s', keepDead: { count: 10, ageMs: '7 days' } } },
    jobs: { 'invoice.send': { maxAttempts: 2 } },
    shutdownTimeoutMs: '10s',
    validation: { whitelist: true },
    maxPayloadBytes: 1_000,
    autoStart: false,
    trackCurrentJob: false,
    name: 'reports',
    isGlobal: false,
  }),
  RedisScheduledQueueModule.forRoot({ validation: false }),
  RedisScheduledQueueModule.forRoot({ codec: messagePackCodec, codecs: [base64, vault, new Sealed()] }),
  RedisScheduledQueueModule.forRootAsync({ useClass: OptionsFactory, name: 'reports', isGlobal: false }),
  RedisScheduledQueueModule.forRootAsync({ useExisting: OptionsFactory }),
  RedisScheduledQueueModule.forRootAsync({ useFactory: () => ({}) }),
  RedisScheduledQueueModule.forRootAsync({
    inject: [ConfigService],
    useFactory: async (config: ConfigService) => ({
      connection: config.getOrThrow<string>('REDIS_URL'),
      role: 'producer' as const,
    }),
  }),
];

export const token = getScheduledQueueToken(ScheduledQueueProducer, 'reports');

export async function pull(consumer: ScheduledQueueConsumer): Promise<Date[]> {
  const options: PopOptions = { queue: 'mail', names: ['file.import'] as const, count: 10, waitMs: '30s' };
  const jobs: PoppedJob<Import>[] = await consumer.pop<Import>(options);
  for (const job of jobs) {
    const went: boolean = await job.complete({ bytes: 7 });
    if (!went) await job.fail(new Error('no'));
    await job.snooze({ at: new Date() });
    await job.snooze('5m');
    await job.extend(60_000);
  }
  const [job] = await consumer.pop();
  const payload: unknown = job?.payload;
  return payload === undefined ? [] : jobs.map(({ payload: { at } }) => at);
}

export async function relay(consumer: ScheduledQueueConsumer): Promise<void> {
  const options: RelayOptions = { names: ['file.import'] as const, to: { list: relayKey('mail', 'files') }, batch: 10 };
  const relays: ScheduledQueueRelay[] = [
    consumer.relay(options),
    consumer.relay({ queue: 'mail', to: { stream: relayKey('mail', 'all') }, maxLength: 1_000 }),
  ];
  for (const { stop } of relays) await stop();
}

const rateLimit: RateLimit = { max: 100, perMs: '1s' };
export const limited: QueueOptions = {
  rateLimit,
  globalConcurrency: 7,
  stealAfterMs: '2s',
  ordering: { mode: 'aging', msPerLevel: '1m' },
};

export async function manage(inspector: ScheduledQueueInspector, producer: ScheduledQueueProducer): Promise<number> {
  await producer.schedule('work', 1, { worker: 'w1', tags: ['order:7'] as const });
  await inspector.pause({ forMs: '5m', queue: 'mail' });
  await inspector.setBlackouts([
    { from: new Date(), to: '2030-01-01T00:00:00Z' },
    { cron: '@daily', durationMs: '8h' },
  ]);
  await inspector.setBlackouts(await inspector.blackouts({ queue: 'mail' }), { queue: 'mail' });
  // @ts-expect-error a blackout is of one kind
  await inspector.setBlackouts([{ from: new Date(), durationMs: 5 }]);
  if (await inspector.isPaused()) await inspector.resume();
  const [worker] = await inspector.workers();
  const seenAt: Date | undefined = worker?.lastSeenAt;
  const options: SharedOptions | undefined = worker?.options;
  const atOnce: number | null | undefined = options?.globalConcurrency;
  if (atOnce === null) await inspector.pause();
  const cancelled: number = await inspector.cancelTagged('order:7', { queue: 'mail' });
  return seenAt ? cancelled : await inspector.shiftTagged('order:7', '-2h');
}

/** What became of a schedule, in words; a status that is added makes this fail to compile. */
export async function tell(producer: ScheduledQueueProducer): Promise<string> {
  const ping = defineScheduledJob<{ host: string }>('ping');
  const ref: JobRef = ping.ref('ping/7');
  const { status, dueAt } = await producer.schedule(ping, { host: 'a' }, { id: 'ping/7', onDuplicate: 'replace' });
  await producer.cancel(ref);
  const words: Record<ScheduleStatus, string> = {
    created: 'new',
    replaced: 'new',
    queued: 'after this run',
    waiting: 'as before',
    active: 'as before',
    dead: 'as before',
    ended: 'done',
    taken: 'refused',
  };
  return `${words[status]}, ${dueAt?.toISOString() ?? 'never'}`;
}

/** Who wraps the producer has its types. */
export async function later<T>(
  producer: ScheduledQueueProducer,
  job: ScheduledJobDefinition<T>,
  payload: PayloadOf<T>,
): Promise<ScheduledJobRef[]> {
  const byNameOrDefinition: ScheduledJobDefinition<T> | string = job;
  return [
    await producer.schedule(job, payload, { delay: '1h' }),
    await producer.dispatch(byNameOrDefinition, payload),
    await producer.schedule({ ...importFile, queue: 'slow' }, { file: 'a.csv', at: new Date() }),
  ];
}

/** Text that is only known at run time is somebody's word for it. */
export const durations: Duration[] = [
  0,
  '500ms',
  '1.5 hours',
  '2 Days',
  '3W',
  `${durationsCount()}m`,
  process.env.DELAY as Duration,
];

function durationsCount(): number {
  return 5;
}

export async function sweep(inspector: ScheduledQueueInspector): Promise<number> {
  const filter: DeadFilter = { names: ['mail'] as const, reason: 'crashed', diedBefore: new Date(), limit: 10 };
  const purged = await inspector.purgeDead({ ...filter, queue: 'mail' });
  await inspector.purgeDead(filter, { queue: 'mail' });
  return purged + (await inspector.replayDead(filter, { at: '2027-01-01T09:00:00Z', perSecond: 5, queue: 'mail' }));
}

export class EventListeners {
  @OnScheduledJobEvent('dead')
  onDead(event: ScheduledQueueEventOf<'dead'>): string {
    return `${event.name} ${event.attempt} ${event.reason}`;
  }

  @OnScheduledJobEvent(['failed', 'dead'], { queue: 'mail', instance: 'reports' })
  async onTrouble(event: ScheduledQueueEventOf<'failed' | 'dead'>): Promise<void> {
    if (event.type === 'failed') event.retryAt?.getTime();
  }

  @OnScheduledJobEvent('completed')
  @OnScheduledJobEvent(['started', 'late'])
  onAny(event: ScheduledQueueEvent): void {
    if (event.type === 'late') event.onLate satisfies string;
  }

  @OnScheduledJobEvent('scheduled')
  withPart({ id, dueAt }: { id: string; dueAt: Date }): void {
    dueAt.getTime();
    id.trim();
  }

  @OnScheduledJobEvent('cancelled')
  withoutParameters(): void {}
}

export function below(): string | undefined {
  const job: ScheduledJob | undefined = currentScheduledJob();
  return job && currentScheduledJob<{ userId: number }>()?.payload.userId.toFixed();
}

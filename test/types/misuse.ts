// What must not compile: one mistake below each directive.
import { Injectable } from '@nestjs/common';
import {
  defineScheduledJob,
  OnScheduledJob,
  OnScheduledJobEvent,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledJob,
  type ScheduledQueueConsumer,
  type ScheduledQueueEventOf,
  type ScheduledQueueInspector,
  ScheduledQueueProducer,
} from 'nestjs-redis-scheduled-queue';
import {
  createScheduledJob,
  type JobExpectation,
  type ScheduledQueueTester,
} from 'nestjs-redis-scheduled-queue/testing';

class SendReminder {
  userId!: number;
  email!: string;
}

class WithMethods {
  amount!: number;

  total(): number {
    return this.amount;
  }
}

const sendReminder = defineScheduledJob('reminder.send', { payload: SendReminder });
const withMethods = defineScheduledJob<WithMethods>('with.methods');
const count = defineScheduledJob<number>('count');
const meet = defineScheduledJob<{ at: Date; with: { name: string }[] }>('meet');
const ping = defineScheduledJob<void>('ping');
const tick = defineScheduledJob('tick');
const reminder = { userId: 7, email: 'a@b.c' };

export const definitions = [
  // @ts-expect-error an option that is misspelt
  defineScheduledJob('a', { maxAttemps: 5 }),
  // @ts-expect-error an option that is misspelt, beside a payload class
  defineScheduledJob('b', { payload: SendReminder, quue: 'mail' }),
  // @ts-expect-error an option that only a call can say
  defineScheduledJob('c', { delay: '1m' }),
  // @ts-expect-error an id that every job of this name would have
  defineScheduledJob('d', { payload: SendReminder, id: 'x' }),
  // @ts-expect-error a backoff that does not exist
  defineScheduledJob('e', { backoff: { type: 'linear', delayMs: 1 } }),
  // @ts-expect-error a backoff without its delay
  defineScheduledJob('f', { backoff: { type: 'fixed' } }),
  // @ts-expect-error an option of a backoff that is misspelt
  defineScheduledJob('g', { backoff: { type: 'fixed', delayMs: 1, jiter: 0.5 } }),
  // @ts-expect-error a backoff function that answers with something else than a duration
  defineScheduledJob('g2', { backoff: () => new Date() }),
  // @ts-expect-error what a late job comes to that does not exist
  defineScheduledJob('g3', { maxLatenessMs: '1m', onLate: 'skip' }),
  // @ts-expect-error an instance in place of the class
  defineScheduledJob('h', { payload: new SendReminder() }),
  // @ts-expect-error a class that is not of the payload's type
  defineScheduledJob<{ other: boolean }>('i', { payload: SendReminder }),
  // @ts-expect-error no name
  defineScheduledJob({ payload: SendReminder }),
];

export async function scheduling(producer: ScheduledQueueProducer): Promise<void> {
  // @ts-expect-error a property of another type
  await producer.schedule(sendReminder, { userId: '7', email: 'a@b.c' });
  // @ts-expect-error a property is missing
  await producer.schedule(sendReminder, { userId: 7 });
  // @ts-expect-error a backoff function, which a call cannot carry
  await producer.schedule('x', 1, { backoff: () => 5 });
  // @ts-expect-error a property that the payload does not have
  await producer.schedule(sendReminder, { userId: 7, email: 'a@b.c', name: 'x' });
  // @ts-expect-error no payload
  await producer.schedule(sendReminder);
  // @ts-expect-error undefined in place of the payload
  await producer.schedule(sendReminder, undefined, { delay: '1m' });
  // @ts-expect-error options in place of the payload
  await producer.schedule(sendReminder, { delay: '1m' });
  // @ts-expect-error text in place of a Date
  await producer.schedule(meet, { at: '2027-01-01', with: [] });
  // @ts-expect-error a property of another type, deep inside
  await producer.schedule(meet, { at: new Date(), with: [{ name: 7 }] });
  // @ts-expect-error what is like a list in place of one
  await producer.schedule(meet, { at: new Date(), with: { length: 1, 0: { name: 'a' } } });
  // @ts-expect-error text in place of a number
  await producer.schedule(count, '7');
  // @ts-expect-error a payload for a job without one
  await producer.schedule(ping, { any: 'thing' });
  // @ts-expect-error options in place of the missing payload
  await producer.schedule(ping, { delay: '1m' });
  // @ts-expect-error a payload for a job without one, by default
  await producer.schedule(tick, { any: 'thing' });
  // @ts-expect-error options in the place of the payload that it does not have
  await producer.dispatch(tick, { priority: 1 });
  // @ts-expect-error a name without a payload
  await producer.schedule('by.name');
  // @ts-expect-error a class in place of a definition
  await producer.schedule(SendReminder, reminder);

  // @ts-expect-error an option that is misspelt
  await producer.schedule(sendReminder, reminder, { dealy: '1m' });
  // @ts-expect-error an option that is misspelt, of a job without a payload
  await producer.schedule(ping, undefined, { dealy: '1m' });
  // @ts-expect-error an option that is misspelt, of a job by name
  await producer.schedule('by.name', reminder, { dealy: '1m' });
  // @ts-expect-error a duration in another language
  await producer.schedule(sendReminder, reminder, { delay: '2 horas' });
  // @ts-expect-error a duration without a unit
  await producer.schedule(sendReminder, reminder, { delay: '4000' });
  // @ts-expect-error a duration of which nobody knows what it says
  await producer.schedule(sendReminder, reminder, { delay: process.env.DELAY });
  // @ts-expect-error a Date in place of options
  await producer.schedule(sendReminder, reminder, new Date());
  // @ts-expect-error a priority in words
  await producer.schedule(sendReminder, reminder, { priority: 'HIGH' });
  // @ts-expect-error a header that is no text
  await producer.schedule(sendReminder, reminder, { headers: { tenant: 7 } });
  // @ts-expect-error something else to do with a duplicate
  await producer.schedule(sendReminder, reminder, { id: 'x', onDuplicate: 'drop' });

  // @ts-expect-error a job that is due now has no other time
  await producer.dispatch(sendReminder, reminder, { at: new Date() });
  // @ts-expect-error nor a delay
  await producer.dispatch(ping, undefined, { delay: '1m' });
  // @ts-expect-error a property of another type
  await producer.dispatch(sendReminder, { userId: '7', email: 'a@b.c' });

  // @ts-expect-error rescheduled by a Date alone
  await producer.reschedule('id', new Date());
  // @ts-expect-error rescheduled with an option of schedule
  await producer.reschedule('id', { delay: '1m', priority: 1 });
  // @ts-expect-error rescheduled to no time
  await producer.reschedule('id');
  // @ts-expect-error an id that is a number
  await producer.cancel(7);
  // @ts-expect-error a queue without its name
  await producer.cancel('id', 'mail');

  await producer.scheduleMany([
    { job: count, payload: 7 },
    // @ts-expect-error the payload of the other item's job
    { job: sendReminder, payload: 7 },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error a property is missing
    { job: sendReminder, payload: { userId: 7 } },
    { job: count, payload: 7 },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error a payload for a job without one
    { job: ping, payload: 7 },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error an option that is misspelt
    { job: count, payload: 7, options: { dealy: '1m' } },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error no payload
    { job: count },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error a name without a payload
    { job: 'by.name' },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error a property that the payload does not have
    { job: sendReminder, payload: { userId: 7, email: 'a@b.c', name: 'x' } },
  ]);
  await producer.scheduleMany([
    // @ts-expect-error a field that is misspelt
    { job: count, paylod: 7 },
  ]);
  // @ts-expect-error one item that is not in a list
  await producer.scheduleMany({ job: count, payload: 7 });
}

@Injectable()
export class Handlers {
  // @ts-expect-error a payload of another type
  @OnScheduledJob(sendReminder)
  otherPayload(payload: string): void {
    console.log(payload);
  }

  // @ts-expect-error a property of another type
  @OnScheduledJob(sendReminder)
  otherProperty(payload: { userId: string }): void {
    console.log(payload);
  }

  // @ts-expect-error a property that the payload does not have
  @OnScheduledJob(sendReminder)
  moreOfIt(payload: { userId: number; name: string }): void {
    console.log(payload);
  }

  // @ts-expect-error the job of another payload
  @OnScheduledJob(sendReminder)
  otherJob(_payload: SendReminder, job: ScheduledJob<number>): void {
    console.log(job);
  }

  // @ts-expect-error the job first
  @OnScheduledJob(sendReminder)
  jobFirst(job: ScheduledJob<SendReminder>): void {
    console.log(job);
  }

  // @ts-expect-error a third parameter
  @OnScheduledJob(sendReminder)
  threeParameters(_payload: SendReminder, _job: ScheduledJob<SendReminder>, more: string): void {
    console.log(more);
  }

  // @ts-expect-error a payload of a job without one
  @OnScheduledJob(ping)
  payloadOfNone(payload: { userId: number }): void {
    console.log(payload);
  }

  // @ts-expect-error a payload of a job without one, by default
  @OnScheduledJob(tick)
  payloadOfNoneByDefault(payload: { userId: number }): void {
    console.log(payload);
  }

  // @ts-expect-error a Date, which JSON has made a string
  @OnScheduledJob(meet)
  dateOfJson(payload: { at: Date }): void {
    console.log(payload);
  }

  // @ts-expect-error the job with a Date, which JSON has made a string
  @OnScheduledJob(meet)
  jobOfJson(_payload: unknown, job: ScheduledJob<{ at: Date }>): void {
    console.log(job);
  }

  // @ts-expect-error methods, which JSON leaves behind, of a class that the definition does not name
  @OnScheduledJob(withMethods)
  methodsOfJson(payload: WithMethods): void {
    console.log(payload.total());
  }

  // @ts-expect-error something else than the job, by name
  @OnScheduledJob('by.name')
  byName(_payload: unknown, job: string): void {
    console.log(job);
  }

  // @ts-expect-error a payload of another class than the option names
  @OnScheduledJob('by.name', { payload: SendReminder })
  otherClassByName(payload: { total(): number }): void {
    console.log(payload);
  }

  // @ts-expect-error an option that is misspelt
  @OnScheduledJob(sendReminder, { maxAttemps: 5 })
  misspelt(): void {}

  // @ts-expect-error an option that is misspelt, by name
  @OnScheduledJob('by.name', { maxAttemps: 5 })
  misspeltByName(): void {}

  // @ts-expect-error a property is no method
  @OnScheduledJob(sendReminder)
  property = 5;
}

// @ts-expect-error a class is no method
@OnScheduledJob(sendReminder)
export class OnAClass {}

export const modules = [
  // @ts-expect-error an option that is misspelt
  RedisScheduledQueueModule.forRoot({ conection: 'redis://localhost' }),
  // @ts-expect-error a role that does not exist
  RedisScheduledQueueModule.forRoot({ role: 'consumer' }),
  // @ts-expect-error an option of a queue
  RedisScheduledQueueModule.forRoot({ concurrency: 10 }),
  // @ts-expect-error an option of a queue that is misspelt
  RedisScheduledQueueModule.forRoot({ queues: { mail: { concurency: 10 } } }),
  // @ts-expect-error an option of what is kept that is misspelt
  RedisScheduledQueueModule.forRoot({ queues: { mail: { keepDead: { age: 10 } } } }),
  // @ts-expect-error an override that is misspelt
  RedisScheduledQueueModule.forRoot({ jobs: { ping: { maxAttemps: 5 } } }),
  // @ts-expect-error an override that configuration cannot make
  RedisScheduledQueueModule.forRoot({ jobs: { ping: { queue: 'mail' } } }),
  // @ts-expect-error a validation that is neither options nor off
  RedisScheduledQueueModule.forRoot({ validation: true }),
  // @ts-expect-error a codec that cannot decode
  RedisScheduledQueueModule.forRoot({ codec: { id: 'mine', encode: () => '' } }),
  // @ts-expect-error a codec that encodes as neither text nor bytes
  RedisScheduledQueueModule.forRoot({ codec: { id: 'mine', encode: (payload) => ({ payload }), decode: String } }),
  // @ts-expect-error one codec in the place of a list
  RedisScheduledQueueModule.forRoot({ codecs: { id: 'mine', encode: () => '', decode: String } }),
  // @ts-expect-error an option beside the factory that is misspelt
  RedisScheduledQueueModule.forRootAsync({ useFactory: () => ({}), global: true }),
  // @ts-expect-error a factory whose option is misspelt
  RedisScheduledQueueModule.forRootAsync({ useFactory: () => ({ conection: 'redis://localhost' }) }),
  // @ts-expect-error a factory whose option is of another type
  RedisScheduledQueueModule.forRootAsync({ useFactory: () => ({ role: 'consumer' }) }),
  // @ts-expect-error the same, after a while
  RedisScheduledQueueModule.forRootAsync({ useFactory: async () => ({ conection: 'redis://localhost' }) }),
  RedisScheduledQueueModule.forRootAsync({
    // @ts-expect-error one misspelt option among others, where the factory says what it answers
    useFactory: (): RedisScheduledQueueModuleOptions => ({ connection: 'redis://localhost', prefx: 'app' }),
  }),
  // @ts-expect-error a class that makes no options
  RedisScheduledQueueModule.forRootAsync({ useClass: SendReminder }),
];

export async function pull(consumer: ScheduledQueueConsumer): Promise<void> {
  // @ts-expect-error an option that is misspelt
  await consumer.pop({ wait: 5 });
  // @ts-expect-error one name, where a list is expected
  await consumer.pop({ names: 'mail' });
  const [job] = await consumer.pop<{ userId: number }>();
  // @ts-expect-error nobody may change what was popped
  job!.attempt = 2;
  // @ts-expect-error no duration
  await job!.extend(new Date());
  // @ts-expect-error a payload that has no such property
  job!.payload.email;
}

export function relay(consumer: ScheduledQueueConsumer): void {
  // @ts-expect-error no target
  consumer.relay({ names: ['mail'] });
  // @ts-expect-error a target that is none
  consumer.relay({ to: 'mail' });
  // @ts-expect-error an option of pops
  consumer.relay({ to: { list: 'l' }, count: 10 });
}

export const limited: RedisScheduledQueueModuleOptions = {
  queues: {
    // @ts-expect-error a rate without its window
    mail: { rateLimit: { max: 5 } },
    // @ts-expect-error strict order knows no levels
    file: { ordering: { mode: 'strict', msPerLevel: 5 } },
  },
};

export async function sweep(inspector: ScheduledQueueInspector): Promise<void> {
  // @ts-expect-error a reason that does not exist
  await inspector.purgeDead({ reason: 'crash' });
  // @ts-expect-error a condition that is misspelt
  await inspector.purgeDead({ name: 'mail' });
  // @ts-expect-error one name, where a list is expected
  await inspector.replayDead({ names: 'mail' });
}

export class EventListeners {
  // @ts-expect-error a type that does not exist
  @OnScheduledJobEvent('ded')
  misspelt(): void {}

  // @ts-expect-error the event of another type
  @OnScheduledJobEvent('failed')
  another(event: ScheduledQueueEventOf<'dead'>): void {
    event.reason.trim();
  }

  // @ts-expect-error of two types, one lacks the field
  @OnScheduledJobEvent(['failed', 'cancelled'])
  ofTwo({ attempt }: { attempt: number }): void {
    attempt.toFixed();
  }

  // @ts-expect-error an option that is misspelt
  @OnScheduledJobEvent('dead', { queu: 'mail' })
  option(): void {}

  // @ts-expect-error a property, which is no method
  @OnScheduledJobEvent('dead')
  arrow = (): void => {};
}

export async function testing(tester: ScheduledQueueTester) {
  // @ts-expect-error no payload for a run of a job that has one
  await tester.run(sendReminder);
  // @ts-expect-error a property of another type, in a run
  await tester.run(sendReminder, { userId: '7', email: 'a@b.c' });
  // @ts-expect-error options in the place of the payload of a run
  await tester.run(tick, { attempt: 2 });
  // @ts-expect-error a name without a payload
  await tester.run('reminder.send');
  // @ts-expect-error an expected property of another type
  tester.expectScheduled(sendReminder, { payload: { userId: '7' } });
  // @ts-expect-error an expected property that the payload does not have
  tester.expectScheduled(sendReminder, { payload: { userid: 7 } });
  // @ts-expect-error a part of a list of another type
  tester.expectNotScheduled(meet, { payload: { with: [{ name: 7 }] } });
  // @ts-expect-error an expected instant of another type
  tester.expectScheduled(meet, { payload: { at: 7 } });
  // @ts-expect-error a payload that is expected of a job without one
  tester.expectScheduled(tick, { payload: { userId: 7 } });
  // @ts-expect-error an expectation that is misspelt
  tester.expectScheduled(sendReminder, { payloads: { userId: 7 } });
  // @ts-expect-error an expectation of another job
  tester.expectScheduled(sendReminder, { payload: { other: 1 } } satisfies JobExpectation<{ other: number }>);
  // @ts-expect-error no payload for a handler's job
  createScheduledJob(sendReminder);
  // @ts-expect-error another payload for a handler's job
  createScheduledJob(count, 'seven');
}

/** Each occurrence of a job that has a payload needs one. */
export class DeclaredWithoutPayload {
  // @ts-expect-error a cron rule without the payload of its occurrences
  @OnScheduledJob(count, { cron: '@daily' })
  // @ts-expect-error an interval without it
  @OnScheduledJob(count, { everyMs: '1h', recurrenceId: 'hourly' })
  count(): void {}

  // @ts-expect-error the same for a job with a payload class
  @OnScheduledJob(sendReminder, { cron: '@daily', timeZone: 'Europe/Paris' })
  // @ts-expect-error a payload that does not fit
  @OnScheduledJob(sendReminder, { cron: '@daily', recurrenceId: 'b', recurrencePayload: { userId: '7' } })
  remind(): void {}
}

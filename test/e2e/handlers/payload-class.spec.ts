import { afterEach, expect, it } from '@jest/globals';
import { type ArgumentMetadata, type PipeTransform, UsePipes } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsDate, IsInt } from 'class-validator';
import { defineScheduledJob, InvalidOptionsError, InvalidPayloadError, OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// The option `payload` of `@OnScheduledJob`: the payload class of a job that has no definition with one.

afterEach(stopApps);

class Order {
  @IsInt() amount!: number;

  @IsDate()
  @Type(() => Date)
  orderedAt!: Date;
}

it('a handler of a job named by a string gets an instance, and a payload that does not fit makes the job dead', async () => {
  const metatypes: unknown[] = [];
  class Noting implements PipeTransform {
    transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
      metatypes.push(metatype);
      return value;
    }
  }
  class Handlers {
    readonly received: unknown[] = [];

    @OnScheduledJob('order', { payload: Order })
    @UsePipes(Noting)
    take(payload: Order): void {
      this.received.push(payload);
    }
  }
  const { producer, inspector, get } = await startApp([Handlers]);
  const { received } = get(Handlers);
  await producer.schedule('order', { amount: 1, orderedAt: new Date('2027-01-01') });
  await until('the job is handled', () => received.length === 1);
  expect(received[0]).toBeInstanceOf(Order);
  expect(received).toEqual([{ amount: 1, orderedAt: new Date('2027-01-01') }]);
  expect(metatypes).toEqual([Order]);
  const unfit = await producer.schedule('order', { amount: 1.5, orderedAt: new Date('2027-01-01') });
  const dead = await until('the other one is dead', async () => {
    const job = await inspector.job(unfit);
    return job?.state === 'dead' && job;
  });
  expect(dead).toMatchObject({ reason: 'invalid-payload' });
  expect(dead.failures.at(-1)!.message).toMatch(/does not fit Order: amount/);
  expect(received).toHaveLength(1);
});

it('a handler of a definition without a class gets an instance of the class of its options', async () => {
  class Handlers {
    readonly received: unknown[] = [];

    @OnScheduledJob(defineScheduledJob<{ amount: number; orderedAt: string }>('order'), { payload: Order })
    take(payload: unknown): void {
      this.received.push(payload);
    }
  }
  const { producer, get } = await startApp([Handlers]);
  await producer.schedule('order', { amount: 1, orderedAt: '2027-01-01' });
  await until('the job is handled', () => get(Handlers).received.length === 1);
  expect(get(Handlers).received[0]).toBeInstanceOf(Order);
});

it('the payload of a declared recurrence is checked against the class at the start', async () => {
  class Handlers {
    @OnScheduledJob('order', { payload: Order, cron: '@daily', recurrencePayload: { amount: 1, orderedAt: 'soon' } })
    take(): void {}
  }
  const start = startApp([Handlers]);
  await expect(start).rejects.toThrow(InvalidPayloadError);
  await expect(start).rejects.toThrow(
    /^Handlers\.take .*: recurrencePayload of recurrence 'order': .* does not fit Order: orderedAt/,
  );
});

it('the option is refused beside a definition that has a class of its own, even the same', () => {
  const decorate = () => OnScheduledJob(defineScheduledJob('order', { payload: Order }), { payload: Order });
  expect(decorate).toThrow(InvalidOptionsError);
  expect(decorate).toThrow(
    "@OnScheduledJob('order'): payload: got Order, expected none: the definition has the payload class Order. Remove the option.",
  );
});

it('the option is refused where it is no class', () => {
  const decorate = () => OnScheduledJob('order', { payload: { amount: 1 } as unknown as typeof Order });
  expect(decorate).toThrow("@OnScheduledJob('order'): payload: got an object, expected a class.");
});

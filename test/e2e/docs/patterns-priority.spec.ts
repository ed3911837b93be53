import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Programme } from './patterns/delayed-priority.js';
import { aging, Tickets } from './patterns/fair-with-aging.js';
import { Notices } from './patterns/multi-level-priority.js';
import { Bank, charge, Payments, queues as paymentQueues } from './patterns/production-priority-queue.js';
import { queues as stealing, Thumbnails } from './patterns/work-stealing.js';

afterEach(stopApps);

/** One at a time, and not before all are there. */
const inOrder = { autoStart: false, queues: { default: { concurrency: 1 } } };

it('multi-level priority: the most urgent first, and those of one level in turn', async () => {
  const { get, consumer } = await startApp([Notices], inOrder);
  const notices = get(Notices);
  await notices.advertise('cheap');
  await notices.tell('first');
  await notices.tell('second');
  await notices.page('fire');
  await consumer.start();
  await until('all are sent', () => notices.sent.length === 4);
  expect(notices.sent).toEqual(['fire', 'first', 'second', 'cheap']);
});

it('delayed priority: none before its time, and of those that are due the most urgent first', async () => {
  const { get, consumer, inspector } = await startApp([Programme], inOrder);
  const programme = get(Programme);
  const at = (ms: number) => new Date(Date.now() + ms);
  await programme.plan([
    { title: 'due first', at: at(100), priority: 10 },
    { title: 'due last', at: at(300), priority: 1 },
    { title: 'due between', at: at(200), priority: 10 },
    { title: 'tomorrow', at: at(86_400_000), priority: 1 },
  ]);
  await until('three are due', async () => (await inspector.counts()).due === 3);
  await consumer.start();
  await until('they are shown', () => programme.shown.length === 3);
  expect(programme.shown).toEqual(['due last', 'due first', 'due between']);
  expect(await inspector.counts()).toMatchObject({ scheduled: 1 });
});

it('fair with aging: a ticket that has waited long enough goes before a more urgent one', async () => {
  const MS_PER_LEVEL = 400;
  const queue = { ...aging(MS_PER_LEVEL), concurrency: 1 };
  const { get, consumer, inspector } = await startApp([Tickets], { autoStart: false, queues: { default: queue } });
  const tickets = get(Tickets);
  await tickets.open('patient', 5);
  await tickets.open('urgent', 1);
  await until('it has waited for more than four levels', async () => (await inspector.latenessMs()) > 5 * MS_PER_LEVEL);
  await tickets.open('as urgent, and too late', 1);
  await consumer.start();
  await until('all are answered', () => tickets.answered.length === 3);
  expect(tickets.answered).toEqual(['urgent', 'patient', 'as urgent, and too late']);
});

@Injectable()
class Busy {
  end = () => {};
  private readonly ended = new Promise<void>((resolve) => (this.end = resolve));

  @OnScheduledJob('hold')
  async hold() {
    await this.ended;
  }
}

it('work stealing: the preferred worker, another one once it is late, and at once where that worker is gone', async () => {
  const prefix = newPrefix();
  const options = { prefix, queues: { default: { ...stealing.default, concurrency: 1 } } };
  const w1 = await startApp([Thumbnails, Busy], { ...options, workerId: 'w1' });
  const w2 = await startApp([Thumbnails], { ...options, workerId: 'w2' });
  const lateness: number[] = [];
  w2.events.events$.subscribe((event) => event.type === 'started' && lateness.push(event.latenessMs));
  const [own, others] = [w1.get(Thumbnails), w2.get(Thumbnails)];
  // A worker that was never there is one that is gone.
  await until('both are there', async () => (await w1.inspector.workers()).length === 2);
  const images = ['a', 'b', 'c', 'd', 'e'];
  for (const image of images) await others.make(image, 'w1');
  await until('all are made', () => own.made.length + others.made.length === images.length);
  expect(own.made).toEqual(images);

  await w1.producer.dispatch('hold', null);
  await until('w1 is busy', async () => (await w1.inspector.counts()).active === 1);
  await others.make('stolen', 'w1');
  await until('it is stolen', () => others.made.includes('stolen'));
  expect(lateness[0]).toBeGreaterThanOrEqual(stealing.default.stealAfterMs);

  w1.get(Busy).end();
  await w1.app.close();
  await others.make('orphan', 'w1');
  await until('the other one has it', () => others.made.includes('orphan'));
  expect(lateness[1]).toBeLessThan(stealing.default.stealAfterMs);
});

it('production: an outage of the bank is tried again under one key, a refusal is kept for people', async () => {
  const asked: [number, string][] = [];
  let solvent = false;
  const bank: Bank = {
    charge: async (cents, key, signal) => {
      asked.push([cents, key]);
      expect(signal).toBeInstanceOf(AbortSignal);
      if (asked.length === 1) throw new Error('no answer');
      return cents < 1_000 || solvent;
    },
  };
  const queue = 'payments';
  const { producer, inspector } = await startApp([Payments, { provide: Bank, useValue: bank }], {
    queues: paymentQueues,
  });
  const small = await producer.dispatch(charge, 500);
  await until('it was tried', () => asked.length === 1);
  await until('it is paid', async () => (await inspector.job(small))?.state === 'completed');
  expect(asked).toEqual([
    [500, small.id],
    [500, small.id],
  ]);
  expect(await inspector.job(small)).toMatchObject({ attempts: 2, result: 'paid' });

  const large = await producer.dispatch(charge, 5_000);
  await until('it is refused', async () => (await inspector.counts({ queue })).dead === 1);
  expect(await inspector.job(large)).toMatchObject({ state: 'dead', reason: 'unrecoverable', attempts: 1 });

  await inspector.pause({ queue });
  solvent = true;
  expect(await inspector.replayDead(large)).toBe(1);
  expect(await inspector.explain(large)).toMatchObject({ code: 'paused' });
  await inspector.resume({ queue });
  await until('it is paid', async () => (await inspector.job(large))?.state === 'completed');
});

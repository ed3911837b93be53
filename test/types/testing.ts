// What must compile of a test: expectations, crafted runs, jobs for a handler's unit test.
import { defineScheduledJob, type ScheduledJob, type ScheduledJobDefinition } from 'nestjs-redis-scheduled-queue';
import {
  createScheduledJob,
  type JobExpectation,
  type PayloadPart,
  type ScheduledQueueTester,
} from 'nestjs-redis-scheduled-queue/testing';

class Invoice {
  id!: number;
  sent!: Date;
  lines!: { text: string; price: number }[];
  note?: string;

  total(): number {
    return this.lines.reduce((sum, { price }) => sum + price, 0);
  }
}

interface Tree {
  name: string;
  children: Tree[];
}

const bill = defineScheduledJob('bill', { payload: Invoice });
const prune = defineScheduledJob<Tree>('prune');
const pay = defineScheduledJob<{ by: 'card' | 'cash'; to: string | null }>('pay');
const tick = defineScheduledJob('tick');
/** As matchers of Jest, of Vitest (`any`) and of node:test users are typed. */
declare const aString: { asymmetricMatch(other: unknown): boolean; toString(): string };
// biome-ignore lint/suspicious/noExplicitAny: so they are
declare const ofVitest: any;
// biome-ignore lint/suspicious/noExplicitAny: as users write it
declare const ofAny: ScheduledJobDefinition<any>;

export function expectations(tester: ScheduledQueueTester): void {
  tester.expectScheduled(bill);
  tester.expectScheduled(bill, { payload: { id: 7 } });
  tester.expectScheduled(bill, { payload: { sent: new Date(), lines: [{ text: aString }] }, within: '1h' });
  tester.expectScheduled(bill, { payload: { sent: '2027-01-01T00:00:00.000Z', note: ofVitest } });
  tester.expectScheduled(bill, { payload: aString });
  tester.expectScheduled(bill, { payload: ofVitest });
  tester.expectScheduled(bill, { payload: { lines: aString } });
  tester.expectNotScheduled(prune, { payload: { children: [{ name: 'a' }, { children: [] }] } });
  tester.expectScheduled(pay, { payload: { by: 'card', to: null } });
  tester.expectScheduled(tick, { at: new Date() });
  tester.expectScheduled('bill', { payload: { whatever: [1] } });
  tester.expectNotScheduled('bill', { payload: 7 });

  const expected: JobExpectation = { payload: { id: 7 } };
  tester.expectScheduled('bill', expected);
  const typed: JobExpectation<Invoice> = { payload: { id: 7 } };
  tester.expectScheduled(bill, typed);
  const part: PayloadPart<Tree> = { children: [] };
  tester.expectScheduled(prune, { payload: part });
}

export async function runs(tester: ScheduledQueueTester): Promise<void> {
  await tester.run(bill, { id: 7, sent: new Date(), lines: [] }, { attempt: 2 });
  await tester.run(tick);
  await tester.run(tick, undefined, { attempt: 2 });
  await tester.run('bill', { id: 7 });
  await tester.run('tick', null, { dueAt: 1_800_000_000_000 });
  await tester.run(ofAny, { whatever: 1 });
}

export const jobs: [ScheduledJob<Invoice>, ScheduledJob<void>, ScheduledJob<void>, ScheduledJob<unknown>] = [
  createScheduledJob(bill, { id: 7, sent: new Date(), lines: [] }, { attempt: 2 }),
  createScheduledJob(tick),
  createScheduledJob(tick, undefined, { attempt: 2 }),
  createScheduledJob('bill', { id: 7 }),
];

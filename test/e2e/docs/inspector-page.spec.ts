import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
  UnrecoverableJobError,
} from 'nestjs-redis-scheduled-queue';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from 'nestjs-redis-scheduled-queue/testing';

// What docs/inspector.md prints under each call is what the call answers, over a small shop whose clock stands still.

@Injectable()
class Shop {
  constructor(private readonly tester: ScheduledQueueTester) {}

  @OnScheduledJob('mail.send', { maxAttempts: 3 })
  send({ to }: { to: string }) {
    return { sentTo: to };
  }

  @OnScheduledJob('webhook.send')
  call() {
    throw new UnrecoverableJobError('the endpoint answered 410');
  }

  @OnScheduledJob('report.build')
  async build(_payload: unknown, job: ScheduledJob) {
    await job.progress({ done: 40, of: 100 });
    await this.tester.sleep('5m');
  }
}

let app: TestingModule;
const asks: Record<'inspector', unknown> = { inspector: undefined };

beforeAll(async () => {
  const queue = ScheduledQueueTestingModule.forRoot({
    now: '2027-01-01T08:50:00Z',
    workerId: 'worker-1',
    queues: { default: { keepCompleted: 100 } },
  });
  app = await Test.createTestingModule({ imports: [queue], providers: [Shop] })
    .setLogger({ log() {}, warn() {}, error() {} })
    .compile();
  await app.init();
  asks.inspector = app.get(ScheduledQueueInspector);
  const [producer, tester] = [app.get(ScheduledQueueProducer), app.get(ScheduledQueueTester)];
  const { id: set } = await producer.openSet('mails/1');
  await producer.dispatch('mail.send', { to: 'ada@example.com' }, { id: 'mail.send/1', set });
  await tester.advance('5m');
  await producer.dispatch('webhook.send', { order: 7 }, { id: 'webhook.send/7', tags: ['order-7'] });
  await tester.advance('4m');
  await producer.dispatch('report.build', { day: '2026-12-31' }, { id: 'report.build/2026-12-31' });
  await producer.dispatch('invoice.print', { order: 8 }, { id: 'invoice.print/8', priority: 1 });
  const options = { id: 'mail.send/2', group: 'shop-7', tags: ['order-8'], headers: { traceId: '4bf92f35' } };
  await producer.schedule('mail.send', { to: 'bob@example.com' }, { at: '2027-01-01T11:00:00Z', set, ...options });
  await producer.closeSet(set);
  await tester.advance('1m');
});
afterAll(() => app.close());

it('docs/inspector.md prints what each call answers', async () => {
  const page = readFileSync('docs/inspector.md', 'utf8');
  const calls = [...page.matchAll(/^> (.*)\n((?:(?!> |```).*\n)*)/gm)];
  const run: string[] = [];
  // In the order of the page: the later calls change the queue.
  for (const [, call] of calls) run.push(`> ${call}\n${printed(await answered(call!))}\n`);
  expect(calls.map(([all]) => all)).toEqual(run);
});

it('docs/inspector.md calls every method of the inspector', () => {
  const called = [...readFileSync('docs/inspector.md', 'utf8').matchAll(/^> .*?inspector\.(\w+)/gm)];
  const methods = [ScheduledQueueInspector, Object.getPrototypeOf(ScheduledQueueInspector)].flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype),
  );
  expect([...new Set(called.map(([, name]) => name))].sort()).toEqual(
    methods.filter((name) => name !== 'constructor').sort(),
  );
});

async function answered(call: string): Promise<unknown> {
  return new Function('inspector', `return (async () => ${call.replace(/^await /, '')})()`)(asks.inspector);
}

/** As Node prints it, without what differs from machine to machine. */
function printed(answer: unknown): string {
  return inspect(answer, { depth: 8, breakLength: 100 })
    .replaceAll(/\\n' \+\n *' {4}at [\s\S]*?'(,?)\n/g, "\\n    at …'$1\n")
    .replaceAll(/\n *cause: undefined,/g, '')
    .replaceAll(/host: '.*'/g, "host: 'shop-7d9f'")
    .replaceAll(/pid: \d+/g, 'pid: 17');
}

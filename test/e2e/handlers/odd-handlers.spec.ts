import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class OddError extends Error {
  get code(): string {
    throw new Error('in the getter of code');
  }
}

const ODD_THENABLE = Object.defineProperty({}, 'then', {
  get() {
    throw new Error('in the getter of then');
  },
});
const ODD_PROXY = new Proxy(
  {},
  {
    get(_, key) {
      if (key === 'then') return undefined;
      throw new Error('in a trap');
    },
    getPrototypeOf() {
      throw new Error('in a trap');
    },
  },
);

@Injectable()
class Handlers {
  @OnScheduledJob('throw')
  throw(isOdd: boolean): void {
    if (isOdd) throw new OddError('odd');
  }

  @OnScheduledJob('reject')
  async reject(isOdd: boolean): Promise<void> {
    if (isOdd) throw new OddError('odd');
  }

  @OnScheduledJob('thenable')
  thenable(isOdd: boolean): unknown {
    return isOdd ? ODD_THENABLE : undefined;
  }

  @OnScheduledJob('proxy')
  proxy(isOdd: boolean): unknown {
    return isOdd ? ODD_PROXY : undefined;
  }
}

const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await stopApps();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it.each([
  ['throw', { failed: 1, completed: 2 }],
  ['reject', { failed: 1, completed: 2 }],
  ['thenable', { failed: 1, completed: 2 }],
  ['proxy', { failed: 1, completed: 2 }],
])('a handler that does something odd (%s) harms no other job of its claim', async (job, ends) => {
  const { producer, inspector, consumer } = await startApp([Handlers], { autoStart: false });
  await producer.scheduleMany([true, false, false].map((payload) => ({ job, payload, options: { maxAttempts: 1 } })));
  await consumer.start();
  await until('all are settled', async () => {
    const { completed, dead } = await inspector.stats();
    return completed + dead === 3;
  });
  expect(await inspector.stats()).toMatchObject({ started: 3, recovered: 0, ...ends });
});

it('a logger that throws keeps nobody from working', async () => {
  const fail = (message: unknown, context: unknown) => {
    if (context === 'ScheduledQueue') throw new Error(`in the logger: ${message}`);
  };
  const log = { log: fail, warn: fail, error: fail };
  const { producer, inspector, consumer } = await startApp([Handlers], { autoStart: false }, { log });
  await producer.scheduleMany(
    [true, false, false].map((payload) => ({ job: 'throw', payload, options: { maxAttempts: 1 } })),
  );
  await consumer.start();
  await until('all are settled', async () => (await inspector.stats()).completed === 2);
  expect(await inspector.stats()).toMatchObject({ started: 3, failed: 1, dead: 1, recovered: 0 });
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SCRIPTS } from '../../lib/store/scripts/embedded.js';
import { QUEUE, TestStore } from '../support/store.js';

type Send = (this: Redis, command: { name: string; args: string[] }, ...rest: unknown[]) => unknown;
const clients = Redis.prototype as unknown as { sendCommand: Send };
const { sendCommand } = clients;
const turns: string[][] = [];
let test: TestStore;

beforeEach(() => {
  test = new TestStore();
  turns.length = 0;
  clients.sendCommand = function (command, ...rest) {
    if (command.name === 'evalsha' && command.args[0] === SCRIPTS.turn.sha) turns.push([...command.args]);
    return sendCommand.call(this, command, ...rest);
  };
});

afterEach(async () => {
  clients.sendCommand = sendCommand;
  await test.close();
});

it('a copy of a turn that found nothing, held up on the way, claims nothing once the turn has been answered', async () => {
  const worker = test.worker('w');
  for (let i = 0; i < 3; i++) await worker.turn({ room: 1 });
  const { id } = await test.schedule();
  const [older, last] = turns.slice(-2) as [string[], string[]];
  const statusOf = async (copy: string[]) => ((await test.redis.call('evalsha', ...copy)) as string[])[0];
  expect([await statusOf(older), await statusOf(last)]).toEqual(['stale', 'replayed']);
  expect(await test.store.job(QUEUE, id)).toMatchObject({ state: 'due', attempts: 0 });
  expect(await worker.claim()).toMatchObject([{ id, attempt: 1 }]);
});

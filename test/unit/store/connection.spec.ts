import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { RedisConnection } from '../../../lib/store/redis/connection.js';

const COMMAND_TIMEOUT_MS = 1_000;

it('a dead connection is replaced in time also for a call that overlapped one that was answered', async () => {
  let dropped = 0;
  const answers: ((reply: unknown) => void)[] = [];
  const client = Object.assign(new EventEmitter(), {
    status: 'ready',
    isCluster: false,
    stream: { destroy: () => dropped++ },
    disconnect() {},
    evalsha: () => new Promise((resolve) => answers.push(resolve)),
  });
  const outages = { lost() {}, found() {}, forget() {} };
  const connection = new RedisConnection(client as never, outages as never, COMMAND_TIMEOUT_MS / 2);
  const call = () => connection.run('counts', ['k'], [], performance.now() + COMMAND_TIMEOUT_MS);
  const first = call();
  await sleep(100);
  const second = call();
  await sleep(50);
  answers[0]!('1');
  await first;
  // From here on nothing is answered any more.
  await expect(second).rejects.toMatchObject({ outcome: 'unknown' });
  expect(dropped).toBeGreaterThan(0);
  connection.close();
});

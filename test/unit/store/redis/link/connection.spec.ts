import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { QueueClosedError } from '../../../../../lib/core/errors.js';
import { RedisConnection } from '../../../../../lib/store/redis/link/connection.js';

const COMMAND_TIMEOUT_MS = 1_000;

/** As a client of ioredis behaves that is ready. */
function readyClient(methods: object) {
  return Object.assign(new EventEmitter(), { status: 'ready', isCluster: false, disconnect() {}, ...methods });
}

const outages = { lost() {}, found() {}, forget() {} };

it('a dead connection is replaced in time also for a call that overlapped one that was answered', async () => {
  let dropped = 0;
  const answers: ((reply: unknown) => void)[] = [];
  const client = readyClient({
    stream: { destroy: () => dropped++ },
    evalsha: () => new Promise((resolve) => answers.push(resolve)),
  });
  const connection = new RedisConnection(client as never, outages as never, COMMAND_TIMEOUT_MS / 2);
  const call = () => connection.run('clock', ['k'], [], performance.now() + COMMAND_TIMEOUT_MS);
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

it('a call on a dead connection is sent again in time, wherever in a millisecond its silence began', async () => {
  // As long as a busy machine may keep this process waiting.
  const SILENCE_MS = 1_000;
  const replies = await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      // Timers count whole milliseconds, so what they are early by depends on when they were set.
      for (const begin = performance.now(); performance.now() < begin + i / 30; );
      let isAlive = false;
      const destroy = () => {
        isAlive = true;
      };
      const evalsha = () => new Promise((resolve) => isAlive && resolve('1'));
      const client = readyClient({ stream: { destroy }, evalsha });
      const connection = new RedisConnection(client as never, outages as never, SILENCE_MS);
      const reply = await connection.run('clock', ['k'], [], performance.now() + 2 * SILENCE_MS).catch(String);
      connection.close();
      return reply;
    }),
  );
  expect(replies.filter((reply) => reply !== '1')).toEqual([]);
});

it('a call after the close is refused at once, though the client says that it is ready until its socket has ended', async () => {
  let sent = 0;
  const evalsha = async () => {
    sent++;
    throw new Error("Stream isn't writeable and enableOfflineQueue options is false");
  };
  const connection = new RedisConnection(readyClient({ evalsha }) as never, outages as never, COMMAND_TIMEOUT_MS / 2);
  connection.close();
  const calledAt = performance.now();
  await expect(connection.run('clock', ['k'], [], calledAt + COMMAND_TIMEOUT_MS)).rejects.toThrow(QueueClosedError);
  expect(sent).toBe(0);
  expect(performance.now() - calledAt).toBeLessThan(COMMAND_TIMEOUT_MS / 2);
});

it('what a command has answered inside of a script is told alike by Redis 6.2 and later ones', async () => {
  const inScript = 'ERR Error running script (call to f_293499d6b077f265aa86846f98d0058a8254f7a5): ';
  const answers = [
    `${inScript}@user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.`,
    `${inScript}@user_script:11: WRONGTYPE Operation against a key holding the wrong kind of value`,
  ];
  const client = readyClient({ evalsha: () => Promise.reject(new Error(answers.shift())), info: async () => '' });
  const connection = new RedisConnection(client as never, outages as never, COMMAND_TIMEOUT_MS / 2);
  // The first one means "not now".
  const call = connection.run('clock', ['k'], [], performance.now() + COMMAND_TIMEOUT_MS);
  await expect(call).rejects.toMatchObject({ outcome: 'refused', redisCode: 'WRONGTYPE' });
  expect(answers).toEqual([]);
  connection.close();
});

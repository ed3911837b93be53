import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob } from '../../../lib/index.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { QUEUE, TestStore } from '../../support/store.js';
import { until } from '../../support/wait.js';

const PROCESSES = 4;
const SUSPECTS = 8;

/** What runs in all processes: id -> how to end it. */
const running = new Map<string, () => void>();
const ended: string[] = [];
let mostAtOnce = 0;

@Injectable()
class Handlers {
  @OnScheduledJob('work')
  async work(_: unknown, { id, attempt }: { id: string; attempt: number }): Promise<void> {
    // Only a suspect has been tried before.
    if (attempt > 1) {
      await new Promise<void>((resolve) => {
        running.set(id, resolve);
        mostAtOnce = Math.max(mostAtOnce, running.size);
      });
      running.delete(id);
    }
    ended.push(id);
  }
}

let test: TestStore;
beforeEach(() => {
  running.clear();
  ended.length = 0;
  mostAtOnce = 0;
  test = new TestStore({ maxCrashes: 3 }, undefined, newPrefix());
});
afterEach(async () => {
  for (const end of running.values()) end();
  await stopApps();
  await test.close();
});

/** Workers have died with all of these jobs twice. */
async function makeSuspects(): Promise<void> {
  const ids: string[] = [];
  for (let i = 0; i < SUSPECTS; i++) ids.push((await test.schedule()).id);
  const key = (name: string) => `${test.prefix}:{${QUEUE}}:${name}`;
  for (const dies of ['dies', 'dies-too']) {
    await test.worker(dies).turn({ limit: SUSPECTS });
    await test.redis.zadd(key('active'), 'XX', ...ids.flatMap((id) => [1, id]));
    await test.worker('recovers').turn();
  }
  // These have been dead for long.
  await test.redis.del(key('workers'));
}

it('idle processes run a suspect each, all but one, which runs an ordinary job at once', async () => {
  await makeSuspects();
  const apps = await Promise.all(
    Array.from({ length: PROCESSES }, () => startApp([Handlers], { prefix: test.prefix })),
  );
  await until('all processes but one run a suspect', () => running.size === PROCESSES - 1);
  await apps[0]!.producer.schedule('work', null, { id: 'ordinary' });
  await until('the ordinary job has run', () => ended.includes('ordinary'));
  expect(running.size).toBe(PROCESSES - 1);

  await until('all suspects have run', () => {
    // One after the other: whoever has become free begins the next one.
    if (running.size >= Math.min(PROCESSES - 1, SUSPECTS + 1 - ended.length)) [...running.values()][0]?.();
    return ended.length === SUSPECTS + 1;
  });
  expect(mostAtOnce).toBe(PROCESSES - 1);
});

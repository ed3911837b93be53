import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { PoppedJob, ScheduledQueueEvents } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';

/** Once in a while: SET_RACES=1000. */
const RACES = Number(process.env.SET_RACES ?? 200);
const TOGETHER = 25;

afterEach(stopApps);

/** The completion jobs whose schedule this application tells. */
function told({ events$ }: ScheduledQueueEvents): string[] {
  const ids: string[] = [];
  events$.subscribe((event) => {
    if (event.type === 'scheduled' && event.name === 'done') ids.push(event.id);
  });
  return ids;
}

/** At another moment than what is started beside it, most of the time. */
const soon = () => new Promise((resolve) => setTimeout(resolve, 2 * Math.random()));

it('closeSet against the end of the last member: either may come first, and there is one completion job', async () => {
  const closing = await startApp();
  const ending = await startApp([], { prefix: closing.prefix });
  const { producer, inspector } = closing;
  const byClosing = told(closing.events);
  const byEnding = told(ending.events);
  for (let round = 0; round < RACES; round += TOGETHER) {
    const sets = Array.from({ length: TOGETHER }, (_, i) => `race/${round + i}`);
    await Promise.all(sets.map((set) => producer.openSet(set, { done: { job: 'done', payload: null } })));
    await producer.scheduleMany(sets.map((set) => ({ job: 'member', payload: null, options: { set } })));
    const members: PoppedJob[] = [];
    while (members.length < TOGETHER)
      members.push(
        ...(await ending.consumer.pop({ names: ['member'], count: TOGETHER - members.length, waitMs: 1_000 })),
      );
    const answers = await Promise.all(
      members.flatMap((member) => [
        soon().then(() => member.complete()),
        soon().then(() => producer.closeSet(member.set!)),
      ]),
    );
    expect(answers).toEqual(answers.map(() => true));
  }
  const done: PoppedJob[] = [];
  for (let got: PoppedJob[] = []; ; ) {
    got = await ending.consumer.pop({ names: ['done'], count: 100 });
    if (got.length === 0) break;
    done.push(...got);
    await Promise.all(got.map((job) => job.complete()));
  }
  const numbers = { total: 1, completed: 1, dead: 0, discarded: 0, cancelled: 0 };
  expect(done.map(({ setDone }) => setDone).sort((a, b) => order(a!.id, b!.id))).toEqual(
    Array.from({ length: RACES }, (_, i) => ({ id: `race/${i}`, ...numbers })).sort((a, b) => order(a.id, b.id)),
  );
  expect([...byClosing, ...byEnding].sort()).toEqual(done.map(({ id }) => id).sort());
  expect(await inspector.stats()).toMatchObject({ scheduled: 2 * RACES, completed: 2 * RACES });
  expect(await inspector.sets({ state: 'closed' })).toEqual([]);
  const admin = new Redis(redisUrl());
  expect(await audit(admin, closing.prefix)).toEqual([]);
  admin.disconnect();
  process.stdout.write(`${RACES} sets: closeSet was last of ${byClosing.length}, the member of ${byEnding.length}\n`);
});

const order = (a: string, b: string) => (a < b ? -1 : 1);

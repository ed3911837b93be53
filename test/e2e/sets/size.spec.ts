import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { PoppedJob } from '../../../lib/index.js';
import { SCRIPTS, type ScriptName } from '../../../lib/store/redis/scripts/embedded.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { commandsOfScripts } from '../../support/script-commands.js';
import { until } from '../../support/wait.js';

/** Once in a while, on a machine that does nothing else: SET_MEMBERS=1000000. Then scripts are timed as well. */
const MEMBERS = Number(process.env.SET_MEMBERS ?? 10_000);
const IS_TIMED = MEMBERS >= 1_000_000;
const JOBS = 10_000;
const MEMBER_BYTES = 110;
const DONE_SET_BYTES = 300;
const SCRIPT_MS = 5;
const DONE_MS = 50;
/** Commands that answer all that a key holds. */
const WHOLE = /^(hgetall|hkeys|hvals|hscan)$/;

let server: OwnRedisServer;
let admin: Redis;
const watchers: Redis[] = [];

beforeEach(async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
});

afterEach(async () => {
  await stopApps();
  for (const redis of [admin, ...watchers.splice(0)]) redis.disconnect();
  await server.stop();
});

const start = (queue: object = {}) => startApp([], { connection: server.url, queues: { default: queue } });

/** Redis' bytes of all keys that begin so. */
async function bytesOf(prefix: string): Promise<number> {
  const keys = await admin.keys(`${prefix}*`);
  const bytes = await Promise.all(keys.map((key) => admin.memory('USAGE', key, 'SAMPLES', 0)));
  return bytes.reduce<number>((sum, size) => sum + size!, 0);
}

/** Schedules so many jobs that wait, of 100 bytes. */
async function fill(app: Awaited<ReturnType<typeof start>>, count: number, options: object = {}): Promise<void> {
  const payload = { text: 'x'.repeat(89) };
  const jobs = Array.from({ length: 10_000 }, () => ({ job: 'member', payload, options }));
  for (let left = count; left > 0; left -= jobs.length) await app.producer.scheduleMany(jobs.slice(0, left));
}

it(`a member costs Redis at most ${MEMBER_BYTES} bytes more than a job without a set`, async () => {
  const [plain, member] = [await start(), await start()];
  await fill(plain, JOBS, { delay: '1h' });
  await member.producer.openSet('import/7');
  await fill(member, JOBS, { delay: '1h', set: 'import/7' });
  const [without, withSet] = [await bytesOf(plain.prefix), await bytesOf(member.prefix)];
  const more = (withSet - without) / JOBS;
  process.stdout.write(`a waiting job: ${without / JOBS} bytes, a member ${more.toFixed(1)} more\n`);
  expect(more).toBeLessThanOrEqual(MEMBER_BYTES);
});

it(`a set that is done leaves at most ${DONE_SET_BYTES} bytes, and nothing after keepIdsMs`, async () => {
  const SETS = 1_000;
  const app = await start({ keepIdsMs: 10_000 });
  await app.producer.openSet('warm-up');
  await app.producer.closeSet('warm-up');
  const before = await bytesOf(app.prefix);
  const ids = Array.from({ length: SETS }, (_, i) => `import/${1_000_000 + i}`);
  await Promise.all(ids.map((id) => app.producer.openSet(id)));
  await app.producer.scheduleMany(ids.map((set) => ({ job: 'member', payload: null, options: { set } })));
  await Promise.all(ids.map((id) => app.producer.closeSet(id)));
  for (let left = SETS; left > 0; ) {
    const members = await app.consumer.pop({ count: 100 });
    await Promise.all(members.map((member) => member.complete()));
    left -= members.length;
  }
  expect(await app.inspector.sets({ state: 'done', limit: 1_000 })).toHaveLength(SETS);
  const bytes = ((await bytesOf(app.prefix)) - before) / SETS;
  process.stdout.write(`a set that is done: ${bytes.toFixed(1)} bytes\n`);
  expect(bytes).toBeLessThanOrEqual(DONE_SET_BYTES);
  const ofSets = async () =>
    (await admin.keys(`${app.prefix}*`)).filter((key) => /:(set:.*|sets|doneSets|setsToForget|members:.*)$/.test(key));
  expect(await ofSets()).toHaveLength(2);
  await until('no key of a set is left', async () => (await ofSets()).length === 0);
  expect(await app.inspector.sets()).toEqual([]);
});

it('how many members a set has does not matter to the scripts that open, fill, close and complete it', async () => {
  const app = await start();
  const watcher = new Redis(server.url);
  watchers.push(watcher);
  // All connections stand by then: what a new one sends, while a monitor begins, ioredis takes for an answer to the monitor.
  await app.producer.openSet('warm-up');
  await app.producer.schedule('member', null, { set: 'warm-up' });
  await end(app, 1);
  await watcher.ping();
  const sent: Record<string, number[]> = {};
  // Of a set with few members, and of one with many.
  for (const members of [100, JOBS]) {
    const set = `set of ${members}`;
    // All that scripts hand over: none touches each member.
    const note = async (what: string, act: () => Promise<unknown>) => {
      const scripts = await commandsOfScripts(watcher, act);
      const about = scripts.filter((script) => script.some((command) => command.some((text) => text.includes(set))));
      expect(about).toHaveLength(1);
      // Nor reads them all: what such a command answers is not to be seen here.
      expect(about[0]!.filter(([name, key]) => WHOLE.test(name!) && key!.includes('members:'))).toEqual([]);
      sent[what] = [...(sent[what] ?? []), about.flat(2).length];
    };
    await note('open', () => app.producer.openSet(set, { done: { job: 'done', payload: null } }));
    await fill(app, members - 1, { set });
    await note('schedule', () => app.producer.schedule('member', null, { set }));
    await end(app, members - 1);
    await note('close', () => app.producer.closeSet(set));
    const [last] = await app.consumer.pop();
    await note('last end', () => last!.complete());
    const [done] = await app.consumer.pop();
    expect(done!.setDone).toMatchObject({ total: members, completed: members });
    await done!.complete();
  }
  expect(Object.keys(sent)).toEqual(['open', 'schedule', 'close', 'last end']);
  for (const [few, many] of Object.values(sent)) expect(many! - few!).toBeLessThan(20);
});

/** Claims and completes so many. */
async function end(app: Awaited<ReturnType<typeof start>>, count: number): Promise<void> {
  for (let left = count; left > 0; ) {
    const jobs: PoppedJob[] = await app.consumer.pop({ count: Math.min(left, 100), waitMs: 1_000 });
    await Promise.all(jobs.map((job) => job.complete()));
    left -= jobs.length;
  }
}

(IS_TIMED ? it : it.skip)(
  `with ${MEMBERS} members no script is longer than ${SCRIPT_MS} ms, and the set is done ${DONE_MS} ms after the last end`,
  async () => {
    const app = await startApp([], { connection: server.url, prefix: newPrefix() });
    await admin.config('SET', 'slowlog-max-len', '100000');
    await admin.config('SET', 'slowlog-log-slower-than', '0');
    const names = new Map(Object.entries(SCRIPTS).map(([name, { sha }]) => [sha, name as ScriptName]));
    const longest = new Map<string, number[]>();
    const note = async (phase: string) => {
      const entries = (await admin.call('SLOWLOG', 'GET', '-1')) as [number, number, number, string[]][];
      await admin.call('SLOWLOG', 'RESET');
      for (const [, , us, [command, sha]] of entries) {
        if (command?.toLowerCase() !== 'evalsha') continue;
        const key = `${phase}: ${names.get(sha!)}`;
        longest.set(key, [...(longest.get(key) ?? []), us / 1_000]);
      }
    };
    await app.producer.openSet('s', { done: { job: 'done', payload: null } });
    for (let left = MEMBERS; left > 0; left -= 10_000) {
      await fill(app, Math.min(left, 10_000), { set: 's' });
      await note('schedule');
    }
    await app.producer.closeSet('s');
    await note('close');
    for (let left = MEMBERS - 1; left > 0; left -= 10_000) {
      await end(app, Math.min(left, 10_000));
      await note('end');
    }
    const [last] = await app.consumer.pop();
    const waiting = app.consumer.pop({ names: ['done'], waitMs: 5_000 });
    const endedAt = performance.now();
    const completed = last!.complete();
    const [done] = await waiting;
    const doneMs = performance.now() - endedAt;
    expect(await completed).toBe(true);
    await note('last end');
    expect(done!.setDone).toMatchObject({ total: MEMBERS, completed: MEMBERS });
    for (const [key, times] of longest) {
      times.sort((a, b) => a - b);
      const at = (part: number) => times[Math.floor((times.length - 1) * part)]!.toFixed(2);
      process.stdout.write(`${key}: ${times.length} times, median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms\n`);
    }
    process.stdout.write(`the completion job came ${doneMs.toFixed(1)} ms after the last end\n`);
    expect(doneMs).toBeLessThan(DONE_MS);
    // Redis' log counts the time in which it waits for a core as well: a failure here may be the machine's, and the lines above tell.
    expect(Math.max(...[...longest.values()].flat())).toBeLessThan(SCRIPT_MS);
  },
  1_800_000,
);

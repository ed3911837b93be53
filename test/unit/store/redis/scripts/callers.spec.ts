import { describe, expect, it } from '@jest/globals';
import { JobIdMaker } from '../../../../../lib/core/job/job-id.js';
import type { Log } from '../../../../../lib/core/log.js';
import { readQueueOptions } from '../../../../../lib/core/options/queue-options.js';
import type { NewJob, Settlement, Turn } from '../../../../../lib/store/job-store.js';
import { RedisClearing } from '../../../../../lib/store/redis/calls/clearing.js';
import { RedisDeadLetters } from '../../../../../lib/store/redis/calls/dead-letters.js';
import { RedisGate } from '../../../../../lib/store/redis/calls/gate.js';
import { RedisQueueJobs } from '../../../../../lib/store/redis/calls/queue-jobs.js';
import { SlotPool } from '../../../../../lib/store/redis/calls/slot-pool.js';
import { RedisTaggedJobs } from '../../../../../lib/store/redis/calls/tagged-jobs.js';
import { PermissionLog } from '../../../../../lib/store/redis/checks/permission-log.js';
import { ReadyCheck } from '../../../../../lib/store/redis/checks/ready-check.js';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import type { Client } from '../../../../../lib/store/redis/link/client.js';
import type { RedisConnection } from '../../../../../lib/store/redis/link/connection.js';
import { ServerClock } from '../../../../../lib/store/redis/link/server-clock.js';
import type { WakeListener } from '../../../../../lib/store/redis/link/wake-listener.js';
import { ScheduleOutbox } from '../../../../../lib/store/redis/schedule/schedule-outbox.js';
import { SCRIPTS, type ScriptName } from '../../../../../lib/store/redis/scripts/embedded.js';
import { RedisSession, type SessionIdentity } from '../../../../../lib/store/redis/session/redis-session.js';
import { RedisInspection } from '../../../../../lib/store/redis/view/inspection.js';
import { RedisPresence } from '../../../../../lib/store/redis/view/presence.js';
import { readHeader, SCRIPT_FILES } from './lua-contract.js';

const NOW = '1798794000000';
const TURNED = ['done', NOW, '', [], [], [], [], [], [], '0', '1', '', ''];
const JOB: NewJob = { name: 'ping', priority: 5, due: { delayMs: 0 }, settings: {}, payload: '{}' };

const target = { type: 'stream', key: '{mail}:relay:out', maxLength: 9 } as const;

/** How many arguments follow those that a header numbers, by what `runAll` sends. */
const MORE: Partial<Record<ScriptName, number>> = {
  // Two rows of one job: five that it would share, an id, an end.
  schedule: 2 * (5 + 2),
  // One name.
  register: 1,
  replay: 1,
  purge: 1,
  // Two jobs, three levels, one lane.
  jobs: 2,
  heads: 3,
  lanes: 2,
  // Four lists, each after its length: one plain end, one other, one renewal, one name.
  turn: 1 + 2 + (1 + 5) + (1 + 2) + (1 + 3),
};

interface Run {
  script: ScriptName;
  keys: readonly string[];
  args: readonly unknown[];
}

/** Makes every kind of call against a Redis that answers like one, and notes what each script was given. */
async function runAll(): Promise<Run[]> {
  const runs: Run[] = [];
  const replies: Record<ScriptName, unknown[]> = {
    clock: [NOW, NOW],
    schedule: [['done', NOW, NOW, '11']],
    replace: [['done', NOW, '1', NOW]],
    cancel: [['done', NOW, '1']],
    'cancel-tagged': [['done', NOW, '7 7\tr7']],
    'shift-tagged': [['done', NOW, '7 7 1']],
    replay: [['done', NOW, '1 1 -inf 0 ']],
    purge: [['done', NOW, '1 1 -inf 0 ']],
    reschedule: [['done', NOW, '1']],
    register: [1],
    turn: [['unregistered', NOW], TURNED, TURNED],
    job: [[]],
    jobs: [[[], []]],
    heads: [['0', ['a\t5::ping', '1'], [], []]],
    lanes: [[['b', '2']]],
    remove: [['done', NOW, '1']],
    clear: [['done', NOW, `0 0 0 ${NOW}`]],
    pause: [['done', NOW, 'inf']],
    resume: [['done', NOW, '1']],
    paused: ['' as never],
    'cancel-running': [['done', NOW, '1']],
    handled: [['1', 'w1']],
    workers: [['1', [], []]],
    counts: [[0, 0, 0, 0, 0, '1', NOW, '']],
    limits: [[NOW, 1, 2, NOW]],
    priorities: [['1', '5', 1, 0]],
    permissions: [[]],
  };
  const connection = {
    ready: async () => {},
    // Which levels there are.
    read: async () => ['5'],
    received: 0,
    uplink: { most: 1_000_000, comesTooLate: () => false },
    downlink: { note() {}, bytesIn: () => 1_000_000 },
    run: async (script: ScriptName, keys: readonly string[], args: readonly unknown[]) => {
      runs.push({ script, keys, args });
      return replies[script].shift();
    },
  } as unknown as RedisConnection;
  const keys = queueKeys('sq', 'mail');
  const clock = new ServerClock(keys);
  const options = {
    queue: 'mail',
    clustered: false,
    keepRecordMs: 60_000,
    keepIdsMs: 600_000,
    stealAfterMs: 5_000,
    commandTimeoutMs: 5_000,
  };

  const outbox = new ScheduleOutbox(connection, clock, keys, new JobIdMaker(), options);
  const slots = new SlotPool(connection, clock, keys, options.commandTimeoutMs);
  const jobs = new RedisQueueJobs(outbox, slots, keys, options);
  await Promise.all([jobs.schedule(JOB), jobs.schedule({ ...JOB, id: 'r7' })]);
  await jobs.replace({ ...JOB, id: 'r7' });
  await jobs.reschedule('r7', { at: Number(NOW) });
  await jobs.cancel('r7');
  await jobs.cancelRunning('r7');
  await jobs.remove('r7');
  await new RedisClearing(slots, keys, options).clear();
  const gate = new RedisGate(slots, connection, keys, { ...options, rateLimit: { max: 5, perMs: 1_000 } });
  await gate.pause(undefined);
  await gate.resume();
  await gate.pausedUntil();
  await gate.limits();
  const tagged = new RedisTaggedJobs(slots, keys, options);
  await tagged.cancel('vip', () => {});
  await tagged.shift('vip', -60_000);
  const deadLetters = new RedisDeadLetters(slots, keys, options);
  await deadLetters.replayMany({ names: ['ping'] }, { delayMs: 0 }, undefined);
  await deadLetters.purge({ names: ['ping'] });
  const listener = { hears: () => true } as unknown as WakeListener;
  const settings = readQueueOptions('mail', {});
  const open = (who: SessionIdentity) => new RedisSession({ connection, listener }, clock, keys, who, settings, false);
  const session = open({ id: 'worker-1', group: 'g', names: ['ping'] });
  const ended: Settlement[] = [
    { id: 'a', fence: '1', transition: 'complete', idWasChosen: false },
    { id: 'b', fence: '1', transition: 'retry', delayMs: 5, failure: { name: 'Error', message: 'no' } },
  ];
  const turn: Turn = {
    settlements: ended,
    renewals: [{ id: 'c', fence: '1' }],
    limit: 1,
    handlers: [{ name: 'ping', weight: 2, free: 1 }],
    isLast: false,
    standing: 'stays',
    suspects: '',
  };
  await session.turn(turn, new AbortController().signal);
  const relay = open({ id: 'w~relay-1', group: '*', names: ['*'], target });
  await relay.turn(turn, new AbortController().signal);
  const inspection = new RedisInspection(connection, keys, 5_000);
  await inspection.job('r7');
  await inspection.list('due', 0, 2, settings.ordering, (job) => job);
  await inspection.counts();
  await inspection.countsByPriority();
  const presence = new RedisPresence(connection, keys, { commandTimeoutMs: 5_000, withinMs: 15_000 });
  await presence.handledBy('ping');
  await presence.workers();
  const evalsha = async (sha: string, count: number, ...rest: string[]) => {
    const script = (Object.keys(SCRIPTS) as ScriptName[]).find((name) => SCRIPTS[name].sha === sha)!;
    return connection.run(script, rest.slice(0, count), rest.slice(count), 0);
  };
  const client = { isCluster: false, options: {}, evalsha } as unknown as Client;
  await new ReadyCheck(client, new PermissionLog({} as Log)).pass(keys.jobs);
  return runs;
}

const runs = await runAll();

it('every script is called by someone', () => {
  expect([...new Set(runs.map(({ script }) => `${script}.lua`))].sort()).toEqual([...SCRIPT_FILES].sort());
});

describe.each(runs.map((run) => [run.script, run] as const))('whoever calls %s', (script, { keys, args }) => {
  it('hands over the keys that its header names, in its order', () => {
    const header = readHeader(`${script}.lua`);
    expect(keys).toHaveLength(header.keys.length);
    const wrong = header.keys.filter(
      ({ name }, i) =>
        !new RegExp(`^sq:\\{mail\\}:${name.replace(/<\w+>/g, '[^:]+')}$`).test(keys[i]!) &&
        !(name === '<target>' && keys[i] === target.key),
    );
    expect(wrong).toEqual([]);
  });

  it('hands over as many arguments as its header names', () => {
    const header = readHeader(`${script}.lua`);
    expect(args).toHaveLength(header.argv.length + (MORE[script] ?? 0));
    expect(header.argvFrom !== undefined).toBe(script in MORE);
    expect(args.filter((arg) => arg === undefined || Number.isNaN(arg))).toEqual([]);
  });
});

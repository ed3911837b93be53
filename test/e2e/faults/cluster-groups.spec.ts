import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { OnScheduledJob, type ScheduledJob } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { until } from '../../support/wait.js';

const QUEUES = ['limited', 'ordered'];
const GROUPS = ['a', 'b:1', 'c'];
/** How many jobs a call schedules. */
const ENTRIES_A_CALL = 30;
/** After so many keys of a move, whoever works on the queue must have met a server with a part of it. */
const MET_KEYS = 3;

interface Entry {
  number: number;
  /** Its first attempt fails. */
  fails: boolean;
}

/** What runs, by queue and group. */
@Injectable()
class Ledger {
  readonly ran: { queue: string; group: string; number: number }[] = [];
  readonly most: Record<string, number> = {};
  private readonly running: Record<string, number> = {};

  @OnScheduledJob('limited.entry', { queue: 'limited' })
  limited(entry: Entry, job: ScheduledJob): Promise<void> {
    return this.write(entry, job);
  }

  @OnScheduledJob('ordered.entry', { queue: 'ordered' })
  ordered(entry: Entry, job: ScheduledJob): Promise<void> {
    return this.write(entry, job);
  }

  numbersOf(queue: string, group: string): number[] {
    return this.ran.filter((run) => run.queue === queue && run.group === group).map(({ number }) => number);
  }

  private async write({ number, fails }: Entry, { queue, group, attempt }: ScheduledJob): Promise<void> {
    const key = `${queue} ${group}`;
    const atOnce = (this.running[key] ?? 0) + 1;
    this.running[key] = atOnce;
    this.most[key] = Math.max(this.most[key] ?? 0, atOnce);
    await sleep(5);
    this.running[key]! -= 1;
    if (fails && attempt === 1) throw new Error('the first attempt fails');
    this.ran.push({ queue, group: group!, number });
  }
}

let cluster: TestCluster;

beforeAll(async () => {
  cluster = await TestCluster.start();
}, 60_000);

afterEach(stopApps);
afterAll(() => cluster?.stop());

/** How many commands masters have refused, as they have only a part of the keys. */
async function refusals(...masters: number[]): Promise<number> {
  const infos = await Promise.all(masters.map((index) => cluster.client(index).info('stats')));
  return infos.reduce((all, info) => all + Number(/total_error_replies:(\d+)/.exec(info)![1]), 0);
}

/** Moves a slot, and waits at its first keys until calls have met both parts of the queue. */
async function moveBusySlot(slot: number, from: number, to: number): Promise<void> {
  let moved = 0;
  const before = await refusals(from, to);
  await cluster.moveSlot(slot, from, to, async () => {
    moved++;
    if (moved > MET_KEYS) return;
    await until('a call has met it', async () => (await refusals(from, to)) >= before + moved, 60_000);
  });
  expect(moved).toBeGreaterThan(MET_KEYS);
}

it('limits, order and pauses of groups hold while the slots of their queues are moved and all go on scheduling', async () => {
  const common = { concurrency: 20, keepCompleted: 0 } as const;
  const { producer, inspector, prefix, get } = await startApp([Ledger], {
    connection: { cluster: { nodes: cluster.nodes } },
    commandTimeoutMs: 20_000,
    queues: {
      limited: { ...common, groups: { concurrency: 2 } },
      ordered: { ...common, groups: { order: 'fifo' } },
    },
  });
  const ledger = get(Ledger);
  await inspector.setGroup('a', { concurrency: 4 }, { queue: 'limited' });
  await inspector.pauseGroup('c', { queue: 'limited' });
  const startedAt = Date.now();
  const scheduled: Record<string, number> = { limited: 0, ordered: 0 };

  for (const queue of QUEUES) {
    const scheduleSome = async () => {
      const first = scheduled[queue]!;
      const entries = Array.from({ length: ENTRIES_A_CALL }, (_, i) => first + i);
      await producer.scheduleMany(
        entries.map((number) => ({
          job: `${queue}.entry`,
          payload: { number, fails: number % 7 === 0 },
          // In the order of their numbers.
          options: {
            queue,
            group: GROUPS[number % 3]!,
            at: startedAt + number,
            backoff: { type: 'fixed', delayMs: 20 },
          },
        })),
      );
      scheduled[queue] = first + ENTRIES_A_CALL;
    };
    await scheduleSome();
    await until('some have run', () => ledger.numbersOf(queue, 'a').length > 0, 60_000);

    const { slot, index } = await cluster.homeOf(`{${queue}}`);
    const other = (index + 1) % 3;
    let moving = true;
    const scheduling = (async () => {
      while (moving) await scheduleSome();
    })();
    try {
      await moveBusySlot(slot, index, other);
      if (queue === 'limited') {
        expect(ledger.numbersOf('limited', 'c')).toEqual([]);
        await inspector.resumeGroup('c', { queue });
      }
      await moveBusySlot(slot, other, index);
    } finally {
      moving = false;
      await scheduling;
    }
  }

  const all = scheduled.limited! + scheduled.ordered!;
  await until('all have run', () => ledger.ran.length >= all, 60_000);
  for (const queue of QUEUES) {
    await until(
      'all is settled',
      async () => Object.values(await inspector.counts({ queue })).every((count) => count === 0),
      60_000,
    );
    expect(await inspector.group('c', { queue })).toMatchObject({ waiting: 0, active: 0 });
    const { client } = await cluster.homeOf(`{${queue}}`);
    expect(await audit(client, prefix, queue)).toEqual([]);
  }
  expect(ledger.most).toEqual({
    'limited a': 4,
    'limited b:1': 2,
    'limited c': 2,
    'ordered a': 1,
    'ordered b:1': 1,
    'ordered c': 1,
  });
  for (const [i, group] of GROUPS.entries()) {
    const numbers = Array.from({ length: scheduled.ordered! / 3 }, (_, at) => 3 * at + i);
    expect(ledger.numbersOf('ordered', group)).toEqual(numbers);
    const inAnyOrder = ledger.numbersOf('limited', group).sort((x, y) => x - y);
    expect(inAnyOrder).toEqual(Array.from({ length: scheduled.limited! / 3 }, (_, at) => 3 * at + i));
  }
}, 300_000);

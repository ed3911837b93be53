import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { JobSetDone } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

// Two processes work on sets and chains, one of which is killed again and again, while replies to both, and to who schedules, get lost.

/** Once in a while: KILLED_SETS=100 MEMBERS=200 KILLED_CHAINS=1000 KILL_EVERY_MS=2000. */
const SETS = Number(process.env.KILLED_SETS ?? 6);
/** Of each set: a multiple of 10. */
const MEMBERS = Number(process.env.MEMBERS ?? 40);
const CHAINS = Number(process.env.KILLED_CHAINS ?? 60);
const KILL_EVERY_MS = Number(process.env.KILL_EVERY_MS ?? 700);
const STEPS = 5;
const CUT_EVERY_MS = 150;
const LEASE_MS = 2_000;
const DEADLINE_MS = 60_000 + 4 * SETS * MEMBERS + 40 * CHAINS;

/** Each run writes one when it begins and one just before it ends; a completion job one in all. */
interface Line {
  name: 'member' | 'step' | 'done';
  id: string;
  pid: number;
  attempt: number;
  set?: string;
  setDone?: JobSetDone;
  chain: number;
  step: number;
  of: number;
  before?: number;
}

class Fleet {
  readonly prefix = newPrefix();
  readonly killed = new Set<number>();
  /** How many replies were lost. */
  cuts = 0;
  private readonly history = join(mkdtempSync(join(tmpdir(), 'scheduled-queue-sets-')), 'history.jsonl');
  private readonly running: ChildProcess[] = [];
  private troubles: Promise<unknown> = Promise.resolve();
  private isOver = false;

  constructor(readonly proxy: TcpProxy) {}

  async start(): Promise<void> {
    const child = fork('dist-test/sets.js', {
      env: {
        ...process.env,
        REDIS: this.proxy.url,
        PREFIX: this.prefix,
        HISTORY: this.history,
        WORK_MS: '10',
        LEASE_MS: String(LEASE_MS),
        NODE_OPTIONS: '',
      },
      // Of the errors that they log, many are as they should be.
      stdio: ['ignore', ...Array(2).fill(process.env.TEST_LOGS ? 'inherit' : 'ignore'), 'ipc'],
    });
    this.running.push(child);
    await once(child, 'message');
  }

  /** From now on replies get lost, and the process that has run for longest is killed, and another one started. */
  trouble(): void {
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    const cut = async () => {
      for (; !this.isOver; await pause(CUT_EVERY_MS)) {
        const isCut = this.proxy.cutOnce((_, reply) => reply !== '').then(() => this.cuts++);
        await Promise.race([isCut, pause(10 * CUT_EVERY_MS)]);
      }
    };
    const kill = async () => {
      for (await pause(KILL_EVERY_MS); !this.isOver; await pause(KILL_EVERY_MS)) {
        await this.kill(this.running.shift()!);
        await this.start();
      }
    };
    this.troubles = Promise.all([cut(), kill()]);
  }

  /** What has been written since the troubles began, once they are over. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.troubles;
    await Promise.all(this.running.splice(0).map((child) => this.kill(child)));
    await this.proxy.stop();
  }

  lines(): Line[] {
    if (!existsSync(this.history)) return [];
    const lines = readFileSync(this.history, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  }

  private async kill(child: ChildProcess): Promise<void> {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    this.killed.add(child.pid!);
  }
}

let fleet: Fleet;
let admin: Redis;

beforeEach(async () => {
  fleet = new Fleet(await TcpProxy.start(redisUrl()));
  admin = new Redis(redisUrl());
  await Promise.all([fleet.start(), fleet.start()]);
});
afterEach(async () => {
  await fleet.stop();
  await stopApps();
  admin.disconnect();
});

const startProducer = () =>
  startApp([], { prefix: fleet.prefix, role: 'producer', connection: fleet.proxy.url, commandTimeoutMs: 30_000 });

it(
  'every set is done once, after the end of its last member, with the sums of how all of them ended',
  async () => {
    const { producer, inspector } = await startProducer();
    fleet.trouble();
    for (let i = 0; i < SETS; i++) {
      const set = `set/${i}`;
      await producer.openSet(set, { done: { job: 'done', payload: null } });
      const rows = Array.from({ length: MEMBERS }, (_, row) => row);
      // Of every five rows one adds the next one, and one waits until it is cancelled.
      const refs = await producer.scheduleMany(
        rows
          .filter((row) => row % 5 !== 1)
          .map((row) => ({
            job: 'member',
            payload: { row },
            options: { set, ...(row % 5 === 4 && { delay: '1h' as const }) },
          })),
      );
      await producer.closeSet(set);
      const waiting = refs.filter((_, n) => n % 4 === 3);
      expect(await Promise.all(waiting.map((ref) => producer.cancel(ref)))).toEqual(waiting.map(() => true));
    }
    const isEmpty = async () => {
      const { scheduled, due, active } = await inspector.counts();
      return scheduled + due + active === 0;
    };
    await until('all has ended', isEmpty, DEADLINE_MS);
    await fleet.stop();

    const lines = fleet.lines();
    const fifth = MEMBERS / 5;
    const sums = { total: MEMBERS, completed: 2 * fifth, dead: 1.5 * fifth, discarded: fifth / 2, cancelled: fifth };
    for (let i = 0; i < SETS; i++) {
      const set = `set/${i}`;
      const [first, ...others] = lines.filter((line) => line.setDone?.id === set);
      expect(first).toMatchObject({ name: 'done', setDone: { id: set, ...sums } });
      // Again under the same id where its process was killed before it could tell of its end.
      for (const { id, attempt } of others) expect([id, attempt > 1]).toEqual([first!.id, true]);
      const last = lines.findLastIndex((line) => line.set === set);
      expect(lines.indexOf(first!)).toBeGreaterThan(last);
    }
    const own = await startApp([], { prefix: fleet.prefix, role: 'producer' });
    const states = (await own.inspector.sets({ limit: 1_000 })).map(({ state, pending }) => `${state} ${pending}`);
    expect(states).toEqual(Array(SETS).fill('done 0'));
    expect(await own.inspector.stats()).toMatchObject({
      scheduled: SETS * (MEMBERS + 1),
      completed: SETS * (sums.completed + 1),
      dead: SETS * sums.dead,
      discarded: SETS * sums.discarded,
      cancelled: SETS * sums.cancelled,
    });
    expect(await audit(admin, fleet.prefix)).toEqual([]);
    tell(`${SETS} sets of ${MEMBERS}`);
  },
  2 * DEADLINE_MS,
);

it(
  'every step of a chain runs once, or again under its id where its process was killed, after the one before it',
  async () => {
    const { producer, inspector } = await startProducer();
    await producer.openSet('chains', { done: { job: 'done', payload: null } });
    fleet.trouble();
    const chains = Array.from({ length: CHAINS }, (_, chain) => ({
      job: 'step',
      payload: { chain, step: 1 },
      options: {
        set: 'chains',
        then: Array.from({ length: STEPS - 1 }, (_, i) => ({ job: 'step', payload: { chain, step: i + 2 } })),
      },
    }));
    const refs = await producer.scheduleMany(chains);
    await producer.closeSet('chains');
    await until('all has ended', async () => (await inspector.set('chains'))?.state === 'done', DEADLINE_MS);
    const counts = async () => Object.values(await inspector.counts()).reduce((sum, count) => sum + count);
    await until('the completion job has ended', async () => (await counts()) === 0, DEADLINE_MS);
    await fleet.stop();

    const lines = fleet.lines();
    const byChain = new Map<number, Line[]>();
    for (const line of lines)
      if (line.name === 'step') byChain.set(line.chain, [...(byChain.get(line.chain) ?? []), line]);
    expect(byChain.size).toBe(CHAINS);
    let again = 0;
    for (const [chain, runs] of byChain) {
      const steps = runs.map(({ step }) => step);
      expect(steps).toEqual([...steps].sort());
      const ids = [1, 2, 3, 4, 5].map((step) => [
        ...new Set(runs.filter((run) => run.step === step).map(({ id }) => id)),
      ]);
      expect(ids).toEqual(Array(STEPS).fill([expect.any(String)]));
      expect(ids[0]).toEqual([refs[chain]!.id]);
      for (const [i, { step, of, before, pid, attempt }] of runs.entries()) {
        expect([of, before]).toEqual([STEPS, step === 1 ? undefined : chain * 10 + step - 1]);
        if (i === 0 || runs[i - 1]!.step !== step || runs[i - 1]!.attempt === attempt) continue;
        again++;
        expect(fleet.killed).toContain(runs[i - 1]!.pid);
        expect(pid).not.toBe(runs[i - 1]!.pid);
      }
    }
    expect(lines.filter(({ name }) => name === 'done')).toMatchObject([
      { setDone: { id: 'chains', total: CHAINS * STEPS, completed: CHAINS * STEPS } },
    ]);
    const own = await startApp([], { prefix: fleet.prefix, role: 'producer' });
    expect(await own.inspector.stats()).toMatchObject({
      scheduled: CHAINS * STEPS + 1,
      completed: CHAINS * STEPS + 1,
      dead: 0,
    });
    expect(await audit(admin, fleet.prefix)).toEqual([]);
    tell(`${CHAINS} chains of ${STEPS}, ${again} steps again`);
  },
  2 * DEADLINE_MS,
);

function tell(what: string): void {
  process.stdout.write(`${what}: ${fleet.killed.size} processes killed, ${fleet.cuts} replies lost\n`);
}

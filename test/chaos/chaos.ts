import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/wait.js';
import { check } from './checker.js';
import { drains, moreAfterMs } from './draining.js';
import { planFaults } from './fault-plan.js';
import { History, monotonicMs, readHistory } from './history.js';
import { Member } from './member.js';
import { Nemesis } from './nemesis.js';
import { watchStalls } from './processes/self-report.js';
import { RedisUnderTest } from './redis-under-test.js';
import { type Figures, figuresOf } from './report.js';
import type { Violation } from './rules/rule.js';
import { PRODUCERS, WORKERS } from './settings.js';
import { Timeline } from './timeline.js';

export interface ChaosOptions {
  seed: number;
  /** How long faults happen. */
  seconds: number;
  say?: (line: string) => void;
  /** Whether to keep history and logs where nothing is wrong as well. */
  keep?: boolean;
}

export interface ChaosResult {
  violations: Violation[];
  figures: Figures;
  /** Where history and logs lie; missing where they were not kept. */
  directory?: string;
}

/** What is not armed is armed again within 10 s; besides, all that was left undone has to run. */
const RECURS_WITHIN_MS = 15_000;
const PROBED_WITHIN_MS = 10_000;

/** One run: processes at work, faults, healing, quiet, probes, and then the judgement of what was noted. */
export async function runChaos({ seed, seconds, say = () => {}, keep = false }: ChaosOptions): Promise<ChaosResult> {
  const directory = mkdtempSync(join(tmpdir(), `scheduled-queue-chaos-${seed}-`));
  const history = new History(join(directory, 'history.jsonl'), 'harness');
  const redis = await RedisUnderTest.start(history, join(directory, 'redis.log'));
  const stalls = watchStalls(history);
  const members: Member[] = [];
  try {
    const common = { redisUrl: redis.url, directory, seed, history };
    const starting = [
      ...WORKERS.map((name) => Member.start({ ...common, name, role: 'worker' })),
      ...PRODUCERS.map((name) => Member.start({ ...common, name, role: 'producer' })),
    ];
    for (const member of starting) members.push(await member);
    await new Nemesis(members, redis, history).carryOut(planFaults(seed, seconds), say);
    await quiesce(members, redis, history, seconds, say);
  } finally {
    clearInterval(stalls);
    await Promise.all(members.map((member) => member.end()));
    await redis.stop();
  }
  const result = judge(join(directory, 'history.jsonl'));
  if (result.violations.length > 0 || keep) return { ...result, directory };
  rmSync(directory, { recursive: true });
  return result;
}

/** What is wrong in a history that was kept. */
export function judge(path: string): { violations: Violation[]; figures: Figures } {
  const timeline = new Timeline(readHistory(path));
  return { violations: check(timeline), figures: figuresOf(timeline) };
}

async function quiesce(
  members: readonly Member[],
  redis: RedisUnderTest,
  history: History,
  seconds: number,
  say: (line: string) => void,
) {
  const producers = members.filter(({ name }) => isProducer(name));
  const workers = members.filter(({ name }) => !isProducer(name));
  await Promise.all(members.map((member) => member.heal()));
  history.note({ type: 'healed' });
  say('healed; draining');
  await Promise.all(producers.map((producer) => producer.ask('stop')));
  await producers[0]!.ask(`end-recurrences-${RECURS_WITHIN_MS + moreAfterMs(seconds)}`);
  const drained = await drains(() => redis.unfinished(), seconds);
  history.note({ type: 'drained', drained });
  if (drained) for (const worker of workers) await probe(worker, workers, producers[0]!, redis, history);
  await redis.audit();
  await redis.noteFinalState();
  await Promise.all(
    workers.map(async (worker) => {
      const tookMs = await worker.terminate();
      history.note({ type: 'left', tookMs }, worker.who);
    }),
  );
}

/** While all others are frozen, a worker must run jobs: nobody else's life may hide that it has gone quiet. */
async function probe(
  worker: Member,
  workers: readonly Member[],
  producer: Member,
  redis: RedisUnderTest,
  history: History,
): Promise<void> {
  const others = workers.filter((other) => other !== worker);
  for (const other of others) other.freeze();
  const from = monotonicMs();
  await producer.ask(`probe-${worker.name}`);
  const done = await comesTrue(() => redis.isQuiet(), PROBED_WITHIN_MS);
  history.note({ type: 'probe', worker: worker.name, from, done });
  for (const other of others) other.thaw();
}

async function comesTrue(ask: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  return until('it comes true', ask, withinMs).then(
    () => true,
    () => false,
  );
}

function isProducer(name: string): boolean {
  return (PRODUCERS as readonly string[]).includes(name);
}

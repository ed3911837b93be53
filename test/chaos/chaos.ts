import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/wait.js';
import { check } from './checker.js';
import { drains, moreAfterMs } from './draining.js';
import { planFaults } from './fault-plan.js';
import { History, monotonicMs, readHistory } from './history.js';
import type { KindName } from './job-kinds.js';
import { Member } from './member.js';
import { Nemesis } from './nemesis.js';
import { watchStalls } from './processes/self-report.js';
import type { QueuesUnderTest } from './queues-under-test.js';
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
export function runChaos({ seed, seconds, say = () => {}, keep }: ChaosOptions): Promise<ChaosResult> {
  return play({
    seed,
    say,
    keep,
    start: (history, directory) => RedisUnderTest.start(history, join(directory, 'redis.log')),
    disturb: (members, redis, history) => new Nemesis(members, redis, history).carryOut(planFaults(seed, seconds), say),
  });
}

export interface Play<Q extends QueuesUnderTest> {
  seed: number;
  say: (line: string) => void;
  keep?: boolean;
  /** Kinds of which no job is scheduled. */
  without?: readonly KindName[];
  start(history: History, directory: string): Promise<Q>;
  /** While all are at work. Resolves once the last of it is over. */
  disturb(members: readonly Member[], queues: Q, history: History): Promise<void>;
}

/** The same with other faults, and where these can happen. */
export async function play<Q extends QueuesUnderTest>(given: Play<Q>): Promise<ChaosResult> {
  const { seed, say, keep = false, without = [] } = given;
  const directory = mkdtempSync(join(tmpdir(), `scheduled-queue-chaos-${seed}-`));
  const history = new History(join(directory, 'history.jsonl'), 'harness');
  const queues = await given.start(history, directory);
  const stalls = watchStalls(history);
  const members: Member[] = [];
  try {
    const member = async (name: string, role: 'worker' | 'producer') =>
      Member.start({ ...(await queues.connect()), name, role, directory, seed, without, history });
    const starting = [
      ...WORKERS.map((name) => member(name, 'worker')),
      ...PRODUCERS.map((name) => member(name, 'producer')),
    ];
    for (const each of starting) members.push(await each);
    const from = monotonicMs();
    await given.disturb(members, queues, history);
    await quiesce(members, queues, history, Math.ceil((monotonicMs() - from) / 1_000), say);
  } finally {
    clearInterval(stalls);
    await Promise.all(members.map((member) => member.end()));
    await queues.stop();
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
  queues: QueuesUnderTest,
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
  const drained = await drains(() => queues.unfinished(), seconds);
  history.note({ type: 'drained', drained });
  if (drained) for (const worker of workers) await probe(worker, workers, producers[0]!, queues, history);
  await queues.audit();
  await queues.noteFinalState();
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
  queues: QueuesUnderTest,
  history: History,
): Promise<void> {
  const others = workers.filter((other) => other !== worker);
  for (const other of others) other.freeze();
  const from = monotonicMs();
  await producer.ask(`probe-${worker.name}`);
  const done = await comesTrue(() => queues.isQuiet(), PROBED_WITHIN_MS);
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

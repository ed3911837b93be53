import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startOwnServer } from '../test/support/redis-server.js';
import type { Benchmark, Case } from './benchmark.js';
import type { Answer, Task } from './child.js';
import type { ContestantName } from './contestants/contestant.js';
import { canTie, onOtherCores, tieToFirstCore } from './measure/cores.js';
import type { Measured } from './report/results.js';

export interface RoundsOptions {
  contestants: readonly ContestantName[];
  rounds: number;
  quick: boolean;
  say(line: string): void;
}

/**
 * Runs a benchmark: in every round each case of each contestant, in turn, on a Redis and in a process of its own. Whoever
 * begins a round ends the next one, so that nobody always has the machine as another one leaves it. For the same reason every
 * other round takes the cases from the last to the first.
 * Who fails in a case is left out of its later rounds, and named among the problems.
 */
export async function runRounds(
  benchmark: Benchmark,
  options: RoundsOptions,
): Promise<{ measured: Measured[]; problems: string[] }> {
  const measured: Measured[] = [];
  const problems = new Map<string, string>();
  const taking = options.contestants.filter((name) => benchmark.contestants.includes(name));
  for (let round = 0; round < options.rounds; round++) {
    const cases = round % 2 === 0 ? benchmark.cases : benchmark.cases.toReversed();
    for (const each of cases) {
      for (const contestant of turned(taking, round)) {
        const about = `${benchmark.name}/${each.name}, ${contestant}`;
        if (problems.has(about) || (each.contestants && !each.contestants.includes(contestant))) continue;
        try {
          const figures = await measure(benchmark, each, contestant, options.quick);
          measured.push({ contestant, figures });
          options.say(`round ${round + 1} of ${options.rounds}, ${about}: ${told(figures)}`);
        } catch (error) {
          const [reason] = (error as Error).message.split('\n');
          problems.set(about, `${about}: ${reason}`);
          options.say(`round ${round + 1} of ${options.rounds}, ${about} FAILED: ${(error as Error).message}`);
        }
      }
    }
  }
  return { measured, problems: [...problems.values()] };
}

async function measure(
  benchmark: Benchmark,
  { name, size, quick, nodeOptions = [], isTied = false }: Case,
  contestant: ContestantName,
  isQuick: boolean,
): Promise<Record<string, number>> {
  if (isTied && !canTie())
    throw new Error('Redis cannot have a core of its own: there is one core only, or no taskset');
  const server = await startOwnServer();
  try {
    if (isTied) tieToFirstCore(server.process.pid!);
    return await runChild(
      {
        benchmark: benchmark.name,
        case: name,
        contestant,
        redis: server.url,
        size: { ...size, ...(isQuick ? quick : {}) },
      },
      { nodeOptions, isTied },
      benchmark.timeoutMs,
    );
  } finally {
    await server.stop();
  }
}

function runChild(
  task: Task,
  { nodeOptions, isTied }: Required<Pick<Case, 'nodeOptions' | 'isTied'>>,
  timeoutMs: number,
): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    const file = fileURLToPath(new URL('child.js', import.meta.url));
    const execArgv = [...process.execArgv, ...nodeOptions];
    const child = fork(file, [JSON.stringify(task)], {
      ...(isTied ? onOtherCores(execArgv) : { execArgv }),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    let answer: Answer | undefined;
    const timer = setTimeout(() => {
      answer = { error: `took longer than ${timeoutMs / 1_000} s` };
      end();
    }, timeoutMs);
    child.once('message', (message: Answer) => {
      answer = message;
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      process.off('exit', end);
      if (answer && 'figures' in answer) resolve(answer.figures);
      else reject(new Error(answer?.error ?? `its process ended by itself, with ${signal ?? `code ${code}`}`));
    });
  });
}

/** The list, begun at another place in each round. */
function turned<T>(list: readonly T[], round: number): T[] {
  const from = list.length === 0 ? 0 : round % list.length;
  return [...list.slice(from), ...list.slice(0, from)];
}

function told(figures: Record<string, number>): string {
  return Object.entries(figures)
    .map(([key, value]) => `${key} ${value.toFixed(2)}`)
    .join(', ');
}

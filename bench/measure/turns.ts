import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ContestantName, OpenOptions } from '../contestants/contestant.js';

/** Long beside what a worker claims at once, short beside the minutes in which a machine that others use is fast or slow. */
const TURN_MS = 100;
/** In it Redis ends what the process that was stopped has sent. */
const PAUSE_MS = 5;

/** What a process is told, as its argument. */
export interface TurnTask {
  contestant: ContestantName;
  redis: string;
  /** Its own. */
  queue: string;
  jobs: number;
  options: Pick<OpenOptions, 'trackCurrentJob' | 'streamEvents'>;
  /** Whether somebody listens to the events of its jobs. */
  listens: boolean;
}

/** What a process tells: its jobs are scheduled, the first tenth of them has run, all have. */
export type TurnNews = 'ready' | 'warm' | 'done';

/**
 * Jobs a second of processes that drain in turns of 100 ms, each with a queue of its own: while one runs, the system has stopped
 * the others, and their time does not count. Between two drains that follow one another a shared machine changes by more
 * than what is to be seen, by up to a fifth; two processes alike came out within 3 % of each other this way.
 * Throws after `deadlineMs`.
 */
export async function ratesInTurns(tasks: readonly TurnTask[], deadlineMs: number): Promise<number[]> {
  const giveUpAt = performance.now() + deadlineMs;
  const all: TurnProcess[] = [];
  const end = () => {
    for (const each of all) each.child.kill('SIGKILL');
  };
  process.once('exit', end);
  try {
    for (const task of tasks) all.push(await TurnProcess.start(task));
    for (const each of all) each.child.send('begin');
    while (all.some(({ isDone }) => !isDone)) {
      if (performance.now() > giveUpAt)
        throw new Error(`The drains in turns took longer than ${deadlineMs / 1_000} s.`);
      for (const each of all) await each.turn();
    }
    return all.map(({ rate }) => rate);
  } finally {
    process.off('exit', end);
    end();
  }
}

class TurnProcess {
  private ranMs = 0;
  private resumedAt = 0;
  private warmAt = 0;
  private doneAt = 0;

  private constructor(
    readonly child: ChildProcess,
    private readonly jobs: number,
  ) {
    child.on('message', (news: TurnNews) => {
      const ran = this.ranMs + performance.now() - this.resumedAt;
      if (news === 'warm') this.warmAt = ran;
      else this.doneAt = ran;
    });
  }

  /** Resolves once its jobs are scheduled and it is stopped. */
  static async start(task: TurnTask): Promise<TurnProcess> {
    const child = fork(fileURLToPath(new URL('turn-worker.js', import.meta.url)), [JSON.stringify(task)]);
    const died = once(child, 'exit').then(([code]) => {
      throw new Error(`A process that drains in turns ended with code ${code}.`);
    });
    await Promise.race([once(child, 'message'), died]);
    died.catch(() => {});
    child.kill('SIGSTOP');
    return new TurnProcess(child, task.jobs);
  }

  get isDone(): boolean {
    return this.doneAt > 0;
  }

  get rate(): number {
    return ((this.jobs - warmUpOf(this.jobs)) / (this.doneAt - this.warmAt)) * 1_000;
  }

  async turn(): Promise<void> {
    this.resumedAt = performance.now();
    this.child.kill('SIGCONT');
    await sleep(TURN_MS);
    this.child.kill('SIGSTOP');
    this.ranMs += performance.now() - this.resumedAt;
    await sleep(PAUSE_MS);
  }
}

/** How many jobs warm a process up. */
export function warmUpOf(jobs: number): number {
  return Math.floor(jobs / 10);
}

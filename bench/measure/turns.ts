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
  options: Pick<OpenOptions, 'trackCurrentJob' | 'streamEvents' | 'metered' | 'traced' | 'upgrades'>;
  /** Whether somebody listens to the events of its jobs. */
  listens: boolean;
}

/** What a process tells: its jobs are scheduled, the first tenth of them has run, all have. */
export type TurnNews = 'ready' | 'warm' | 'done';

/**
 * Jobs a second of processes that drain in turns of 100 ms, each with a queue of its own: while one runs, the system has stopped
 * the others, and their time does not count. Between two drains that follow one another a shared machine changes by more
 * than what is to be seen, by up to a fifth; two processes alike came out within 3 % of each other this way.
 * Throws after `deadlineMs`, and where one of them dies.
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
  /** Left out while it is stopped. */
  private resumedAt: number | undefined;
  private warmAt = 0;
  private doneAt = 0;

  private constructor(
    readonly child: ChildProcess,
    private readonly jobs: number,
    /** Rejects once the process has ended. */
    private readonly died: Promise<never>,
  ) {
    child.on('message', (news: TurnNews) => {
      // What was told at the very end of a turn may come once its time is counted already.
      const ran = this.ranMs + (this.resumedAt === undefined ? 0 : performance.now() - this.resumedAt);
      if (news === 'warm') this.warmAt = ran;
      else this.doneAt = ran;
    });
  }

  /** Resolves once its jobs are scheduled and it is stopped. */
  static async start(task: TurnTask): Promise<TurnProcess> {
    const child = fork(fileURLToPath(new URL('turn-worker.js', import.meta.url)), [JSON.stringify(task)]);
    const died = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`A process that drains queue '${task.queue}' in turns ended with ${signal ?? `code ${code}`}.`);
    });
    await Promise.race([once(child, 'message'), died]);
    died.catch(() => {});
    child.kill('SIGSTOP');
    return new TurnProcess(child, task.jobs, died);
  }

  get isDone(): boolean {
    return this.doneAt > 0;
  }

  get rate(): number {
    return ((this.jobs - warmUpOf(this.jobs)) / (this.doneAt - this.warmAt)) * 1_000;
  }

  async turn(): Promise<void> {
    const resumedAt = performance.now();
    this.resumedAt = resumedAt;
    this.child.kill('SIGCONT');
    await Promise.race([sleep(TURN_MS), this.died]);
    this.child.kill('SIGSTOP');
    this.ranMs += performance.now() - resumedAt;
    this.resumedAt = undefined;
    await sleep(PAUSE_MS);
  }
}

/** How many jobs warm a process up. */
export function warmUpOf(jobs: number): number {
  return Math.floor(jobs / 10);
}

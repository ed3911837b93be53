import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

/** By which the kernel is told where a process may run; Linux only. */
const TASKSET = 'taskset';

/** Whether Redis can have a core that nobody else is put on. */
export function canTie(): boolean {
  if (cpus().length < 2) return false;
  try {
    // Not where a container allows other cores only.
    for (const cores of ['0', others()]) execFileSync(TASKSET, ['--cpu-list', cores, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Ties a process and all its threads to the first core. */
export function tieToFirstCore(pid: number): void {
  execFileSync(TASKSET, ['--all-tasks', '--cpu-list', '--pid', '0', String(pid)], { stdio: 'ignore' });
}

/** How to fork a process that stays, with all that it starts, on the other cores. */
export function onOtherCores(execArgv: readonly string[]): { execPath: string; execArgv: string[] } {
  return { execPath: TASKSET, execArgv: ['--cpu-list', others(), process.execPath, ...execArgv] };
}

function others(): string {
  return `1-${cpus().length - 1}`;
}

/** What a worker answers when it has stopped. */
export interface StoppedWorker {
  /** How many of its running jobs it has given back. */
  gaveBack: number;
  /** How many jobs have left their handlers, and Redis has not answered for them. */
  unsettled: number;
}

/** A shutdown may stop hundreds of jobs, and the line is for people. */
const MOST_NAMES = 5;

/** Which jobs a stop waits for, by name, and how long at most. */
export function waitingLine(names: readonly string[], atMostMs: number): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a);
  const list = byCount.slice(0, MOST_NAMES).map(([name, count]) => (count > 1 ? `${name} (${count})` : name));
  const more = byCount.length - list.length;
  if (more > 0) list.push(`and ${more} other ${more === 1 ? 'name' : 'names'}`);
  return `Waiting up to ${length(atMostMs)} for ${runningJobs(names.length)}: ${list.join(', ')}.`;
}

/** What became of `running` jobs, and of what else the workers could not settle; `undefined` where there is nothing to say. */
export function drainedLine(
  running: number,
  workers: readonly StoppedWorker[],
): { line: string; isComplete: boolean } | undefined {
  let wentBack = 0;
  let left = 0;
  for (const { gaveBack, unsettled } of workers) {
    left += unsettled;
    // Redis answers for a turn as a whole: what was given back last is what it has not answered for.
    wentBack += Math.max(0, gaveBack - unsettled);
  }
  if (running === 0 && left === 0) return undefined;
  const ended = Math.max(0, running - wentBack - left);
  const parts = [
    ended > 0 ? `${ended} ended` : '',
    wentBack > 0 ? `${wentBack} went back to the queue` : '',
    left > 0 ? `${left} could not be settled, as Redis did not answer, and may run again when their leases end` : '',
  ];
  const told = parts.filter((part) => part !== '').join(', ');
  return { line: `Done waiting for ${runningJobs(running)}: ${told}.`, isComplete: left === 0 };
}

function runningJobs(count: number): string {
  return `${count} running ${count === 1 ? 'job' : 'jobs'}`;
}

function length(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

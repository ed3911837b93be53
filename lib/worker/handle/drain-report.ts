import type { RunningJob } from '../run/running-job.js';

/** What a worker answers when it has stopped. */
export interface StoppedWorker {
  /** How many of its running jobs it has given back. */
  gaveBack: number;
  /** How many jobs have left their handlers, and Redis has not answered for them. */
  unsettled: number;
  /** Those of its runs that had ended, and whose handlers had not returned. */
  cutOff: readonly RunningJob[];
}

/** Whom a stop waits for. */
export interface WaitedFor {
  /** The names of the jobs that run. */
  running: readonly string[];
  /** The runs whose handlers go on after them. */
  stuck: readonly RunningJob[];
}

/** A shutdown may stop hundreds of jobs, and the line is for people. */
const MOST_NAMES = 5;

/** Which handlers a stop waits for, by the names of their jobs, and how long at most. */
export function waitingLine({ running, stuck }: WaitedFor, atMostMs: number): string {
  const parts = [
    running.length > 0 ? `${runningJobs(running.length)}: ${counted(running)}` : '',
    stuck.length > 0 ? `${stuckHandlers(stuck.length)}: ${counted(namesOf(stuck))}` : '',
  ];
  return `Waiting up to ${length(atMostMs)} for ${joined(parts, '; and for ')}.`;
}

function namesOf(runs: readonly RunningJob[]): string[] {
  return runs.map(({ name }) => name);
}

function counted(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a);
  const list = byCount.slice(0, MOST_NAMES).map(([name, count]) => (count > 1 ? `${name} (${count})` : name));
  const more = byCount.length - list.length;
  if (more > 0) list.push(`and ${more} other ${more === 1 ? 'name' : 'names'}`);
  return list.join(', ');
}

/** What became of those that were waited for, and of what else the workers could not settle; `undefined` where there is nothing to say. */
export function drainedLine(
  { running: { length: running }, stuck }: WaitedFor,
  workers: readonly StoppedWorker[],
): { line: string; isComplete: boolean } | undefined {
  let wentBack = 0;
  let left = 0;
  const cutOff: RunningJob[] = [];
  for (const { gaveBack, unsettled, cutOff: runs } of workers) {
    left += unsettled;
    cutOff.push(...runs);
    // Redis answers for a turn as a whole: what was given back last is what it has not answered for.
    wentBack += Math.max(0, gaveBack - unsettled);
  }
  if (running === 0 && left === 0 && stuck.length === 0) return undefined;
  // Others got stuck during the wait: they are no part of those that were waited for.
  const returned = stuck.filter((run) => !cutOff.includes(run)).length;
  const ended = Math.max(0, running - wentBack - left);
  const parts = [
    ended > 0 ? `${ended} ended` : '',
    wentBack > 0 ? `${wentBack} went back to the queue` : '',
    returned > 0 ? `${returned} returned` : '',
    cutOff.length > 0 ? `${stuckHandlers(cutOff.length)} did not return: ${counted(namesOf(cutOff))}` : '',
    left > 0 ? `${left} could not be settled, as Redis did not answer, and may run again when their leases end` : '',
  ];
  const waitedFor = joined(
    [
      running > 0 || stuck.length === 0 ? runningJobs(running) : '',
      stuck.length > 0 ? stuckHandlers(stuck.length) : '',
    ],
    ' and ',
  );
  return {
    line: `Done waiting for ${waitedFor}: ${joined(parts, ', ')}.`,
    isComplete: left === 0 && cutOff.length === 0,
  };
}

function joined(parts: readonly string[], by: string): string {
  return parts.filter((part) => part !== '').join(by);
}

function stuckHandlers(count: number): string {
  return `${count} stuck ${count === 1 ? 'handler' : 'handlers'}`;
}

function runningJobs(count: number): string {
  return `${count} running ${count === 1 ? 'job' : 'jobs'}`;
}

function length(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

import { SHUTDOWN_TIMEOUT_MS, WORKERS } from '../settings.js';
import type { Timeline } from '../timeline.js';
import { aboutAll } from './rule.js';

/** Beyond the time that running handlers have: the last turn, a handler that blocks the event loop, and a busy machine. */
const LEAVING_MS = 4_000;

/** No warning of Node, nothing thrown that nobody caught, and nobody dies who was not poisoned. */
export const nothingUntoward = aboutAll('nothing-untoward', (timeline) => [
  ...timeline.of('trouble').map(({ who, message }) => `${who}: ${message}`),
  ...timeline.of('exit').flatMap(({ who, wanted, code }) => {
    const poisoned = timeline.of('start').some((start) => start.who === who && start.kind === 'poison');
    return wanted || poisoned ? [] : [`${who} ended with ${code}`];
  }),
]);

/** A worker that is told to leave does so in time, whatever its handlers and Redis do. */
export const leavesInTime = aboutAll('leaves-in-time', (timeline) =>
  timeline.of('left').flatMap(({ who, tookMs, mono }) => {
    const stoodStillMs = timeStoodStill(timeline, who, mono - tookMs, mono);
    if (tookMs - stoodStillMs <= SHUTDOWN_TIMEOUT_MS + LEAVING_MS) return [];
    return [`${who} took ${tookMs.toFixed(0)} ms to leave, and stood still for ${stoodStillMs.toFixed(0)} of them`];
  }),
);

/** For how long a process was frozen, or its event loop stood still, between two instants of the monotonic clock. */
function timeStoodStill(timeline: Timeline, who: string, from: number, to: number): number {
  const freezes = timeline.faults.filter(({ fault, target }) => fault.startsWith('freeze') && target === who);
  const stalls = timeline.of('stall').filter((line) => line.who === who);
  let until = from;
  let total = 0;
  for (const still of [...freezes, ...stalls].sort((a, b) => a.from - b.from)) {
    const begin = Math.max(still.from, until);
    const end = Math.min(still.mono, to);
    if (end <= begin) continue;
    total += end - begin;
    until = end;
  }
  return total;
}

/** Once all is healed the queues drain, and each worker runs jobs while all others are frozen. */
export const everybodyLives = aboutAll('everybody-lives', (timeline) => {
  const [drained] = timeline.of('drained');
  if (!drained?.drained) return ['the queues were not drained in time after all was healed'];
  const probes = timeline.of('probe');
  return WORKERS.flatMap((name) => {
    const probe = probes.find(({ worker }) => worker === name);
    return probe?.done ? [] : [`${name}, all others frozen, did not run a job in time`];
  });
});

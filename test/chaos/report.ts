import { didExist } from './rules/calls.js';
import { duplicates } from './rules/claims.js';
import type { Violation } from './rules/rule.js';
import { LEASE_MS } from './settings.js';
import type { Timeline } from './timeline.js';

/** What happened in a run, in numbers. */
export type Figures = Record<string, number>;

/** How many violations are printed; the rest is in the history. */
const PRINTED = 20;

export function figuresOf(timeline: Timeline): Figures {
  const jobs = [...timeline.jobs.values()].filter(didExist);
  const occurrences = jobs.filter(({ occurrence }) => occurrence);
  const runs = jobs.flatMap((job) => job.runs);
  const faults = timeline.faults.filter(({ done, fault }) => done && fault !== 'audit');
  const of = (name: string, of: 'worker' | 'producer' | 'redis') =>
    faults.filter(({ fault, target }) => fault === name && classOf(target) === of).length;
  // A later attempt after a lost lease is due as before, and so as late as the faults before it were long.
  const lateness = runs.filter(({ attempt }) => attempt === 1).map(({ latenessMs }) => latenessMs);
  lateness.sort((a, b) => a - b);
  const share = (part: number) => lateness[Math.min(lateness.length - 1, Math.floor(lateness.length * part))] ?? 0;
  return {
    jobs: jobs.length,
    runs: runs.length,
    completed: jobs.filter((job) => job.completed || job.events.some(({ event }) => event === 'completed')).length,
    dead: jobs.filter(({ dead }) => dead).length,
    crashed: jobs.filter(({ dead }) => dead?.reason === 'crashed').length,
    cancelled: jobs.filter(({ calls }) => calls.some((call) => /^cancel/.test(call.operation) && call.changed)).length,
    timedOut: runs.filter(({ kind, how }) => kind === 'timed' && how === 'fail').length,
    tooLate: jobs.filter(({ dead }) => dead?.reason === 'late').length,
    unknownOutcomes: jobs.flatMap(({ calls }) => calls).filter(({ outcome }) => outcome === 'unknown').length,
    refusedCalls: jobs.flatMap(({ calls }) => calls).filter(({ outcome }) => outcome === 'refused').length,
    groupRuns: runs.filter(({ group }) => group !== undefined).length,
    occurrences: occurrences.filter(({ runs }) => runs.length > 0).length,
    madeUpFor: occurrences.filter(({ runs }) => runs.some(({ recurrence }) => recurrence?.missed)).length,
    leftOut: occurrences.filter(({ events }) => events.some(({ event }) => event === 'discarded')).length,
    recurrenceCalls: timeline.recurrenceCalls.length,
    faults: faults.length,
    workerKills: of('kill', 'worker'),
    workerRestarts: of('terminate', 'worker'),
    workerFreezes: of('freezeBriefly', 'worker') + of('freezeLong', 'worker'),
    poisonings: timeline.of('exit').filter(({ wanted }) => !wanted).length,
    producerKills: of('kill', 'producer'),
    redisRestarts: of('kill', 'redis'),
    redisFreezes: of('freeze', 'redis'),
    scriptFlushes: of('flushScripts', 'redis'),
    connectionFaults: faults.filter(({ fault }) => /^(cut|loseReply|blackhole|refuse)/.test(fault)).length,
    audits: timeline.audits.length,
    duplicates: duplicates(timeline),
    lostRuns: runs.filter(({ lost }) => lost).length,
    /** Claimed by a process that then froze, and begun once it was thawed, with the lease over. */
    begunAfterLease: runs.filter(({ startedAt, claimedAt }) => startedAt.earliest - claimedAt >= LEASE_MS).length,
    latenessMedianMs: share(0.5),
    latenessP99Ms: share(0.99),
    latenessWorstMs: lateness.at(-1) ?? 0,
    latenessOfRerunsMs: runs.reduce((worst, { latenessMs }) => Math.max(worst, latenessMs), 0),
  };
}

function classOf(target: string): 'worker' | 'producer' | 'redis' {
  if (target === 'redis') return 'redis';
  return target.startsWith('w') ? 'worker' : 'producer';
}

/** Numbers of many runs as those of one: lateness is the worst, all others are added. */
export function sumOf(all: readonly Figures[]): Figures {
  const sum: Figures = {};
  for (const figures of all) {
    for (const [name, number] of Object.entries(figures))
      sum[name] = name.startsWith('lateness') ? Math.max(sum[name] ?? 0, number) : (sum[name] ?? 0) + number;
  }
  return sum;
}

export function tell(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, number]) => `  ${name.padEnd(20)}${number}`)
    .join('\n');
}

export function tellViolations(violations: readonly Violation[]): string {
  const counts = new Map<string, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const heads = [...counts].map(([rule, count]) => `${rule}: ${count}`).join(', ');
  // Some of each rule, and of each job one, so that the many of one do not hide the few of another.
  const each = Math.max(2, Math.floor(PRINTED / counts.size / 2));
  const shown = [...counts.keys()].flatMap((rule) => {
    const found = violations.filter((one) => one.rule === rule);
    const first = found.filter(({ token }, i) => !token || found.findIndex((one) => one.token === token) === i);
    return first.slice(0, each);
  });
  return [heads, ...shown.map(({ rule, token, message }) => `  ${rule}${token ? ` ${token}` : ''}: ${message}`)].join(
    '\n',
  );
}

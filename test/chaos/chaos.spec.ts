import { expect, it } from '@jest/globals';
import { runChaos } from './chaos.js';
import { tell, tellViolations } from './report.js';

/** One whose plan has every kind of fault within so short a time; below it is asked what has happened. */
const SEED = 1;
const SECONDS = 16;

it('keeps every promise while processes, connections and Redis fail', async () => {
  const { violations, figures, directory } = await runChaos({ seed: SEED, seconds: SECONDS });
  process.stdout.write(`seed ${SEED}, ${SECONDS} s of faults\n${tell(figures)}\n`);
  // With what is needed to look into it: the history and the logs stay.
  expect(violations.length > 0 ? `${tellViolations(violations)}\n${directory}` : '').toBe('');
  // A run in which nothing happened would keep every promise too.
  const happened = [
    'completed',
    'dead',
    'cancelled',
    'groupRuns',
    'occurrences',
    'madeUpFor',
    'workerKills',
    'workerRestarts',
    'workerFreezes',
    'producerKills',
    'redisRestarts',
    'redisFreezes',
    'scriptFlushes',
    'connectionFaults',
    'duplicates',
    'lostRuns',
    'audits',
  ];
  expect(happened.filter((figure) => !(figures[figure]! > 0))).toEqual([]);
  expect(figures.jobs).toBeGreaterThan(200);
}, 120_000);

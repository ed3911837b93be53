import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ChaosResult, judge, runChaos } from './chaos.js';
import { planFaults } from './fault-plan.js';
import { sumOf, tell, tellViolations } from './report.js';

const USAGE = `npm run test:chaos -- [--seed N] [--seeds N] [--seconds N] [--keep] [--plan] [--check FILE] [--report FILE]
  --seed     what decides faults and work; by default one of the clock
  --seeds    how many runs, of this seed and those after it; 1
  --seconds  how long faults happen in each run; 30
  --keep     keeps history and logs of runs without violation too
  --plan     only prints the faults
  --check    only judges a history that was kept
  --report   writes the violations and the figures of the last run there, as JSON`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    keep: { type: 'boolean', default: false },
    plan: { type: 'boolean', default: false },
    check: { type: 'string' },
    report: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const first = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
const seconds = Number(values.seconds);

function report(seed: number | undefined, { violations, figures, directory }: ChaosResult): void {
  say(tell(figures));
  if (values.report) writeFileSync(values.report, JSON.stringify({ violations, figures }));
  if (directory) say(`  history and logs: ${directory}`);
  if (violations.length === 0) {
    say('  no violation');
    return;
  }
  say(`${violations.length} VIOLATIONS\n${tellViolations(violations)}`);
  if (seed !== undefined) say(`again: npm run test:chaos -- --seed ${seed} --seconds ${seconds}`);
  process.exitCode = 1;
}

async function runAll(): Promise<void> {
  const results: ChaosResult[] = [];
  for (let seed = first; seed < first + Number(values.seeds); seed++) {
    say(`seed ${seed}, ${seconds} s of faults`);
    const result = await runChaos({ seed, seconds, keep: values.keep });
    report(seed, result);
    results.push(result);
  }
  if (results.length > 1) {
    const failed = results.filter(({ violations }) => violations.length > 0).length;
    say(
      `${results.length} seeds, ${failed} with violations; all together:\n${tell(sumOf(results.map((one) => one.figures)))}`,
    );
  }
}

if (values.help) say(USAGE);
else if (values.plan)
  for (const { atMs, fault, target, lastsMs } of planFaults(first, seconds))
    say(`${atMs} ms  ${fault} ${target}  ${lastsMs} ms`);
else if (values.check) report(undefined, judge(values.check));
else await runAll();

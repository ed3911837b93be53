// The parent of all processes of a run: see README.md. Started by run.mjs, which has built everything.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOwnServer } from '../test/support/redis-server.js';
import { readArguments, USAGE } from './arguments.js';
import { BENCHMARKS } from './benchmarks/index.js';
import { type ContestantName, PEERS } from './contestants/contestant.js';
import { loadContestant } from './contestants/index.js';
import { describeSetting } from './machine.js';
import { RedisProbe } from './measure/redis-probe.js';
import { installPeers } from './peers.js';
import { toChart } from './report/chart.js';
import { type Results, readResults, toResult } from './report/results.js';
import { sectionOf, toTable } from './report/table.js';
import { runRounds } from './rounds.js';

const say = (line: string) => process.stderr.write(`${line}\n`);

try {
  await main(process.argv.slice(2));
} catch (error) {
  say(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 1;
}

async function main(args: string[]): Promise<void> {
  const { benchmarks, contestants, rounds, quick, out } = readArguments(args);
  if (PEERS.some((name) => contestants.includes(name))) installPeers();
  const command = ['npm run bench', ...(args.length > 0 ? ['--', ...args] : [])].join(' ');
  const redisVersion = await versionOfRedis();
  const configured = await configurations(contestants);

  const file = join(out, 'results.json');
  mkdirSync(out, { recursive: true });
  for (const benchmark of benchmarks) {
    const setting = describeSetting({ command, rounds, quick }, contestants, redisVersion);
    const { measured, problems } = await runRounds(benchmark, { contestants, rounds, quick, say });
    const result = toResult(benchmark, measured, { setting, configured, problems });
    // After each one, so that a run that is broken off leaves what it has.
    const results = inOrder({ ...readResults(file), [benchmark.name]: result });
    writeFileSync(file, `${JSON.stringify(results, undefined, 2)}\n`);
    writeFileSync(join(out, 'table.md'), toTable(results));
    writeFileSync(join(out, 'chart.svg'), toChart(results));
    process.stdout.write(`${sectionOf(benchmark.name, result)}\n\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
  say(`In ${out}: results.json, table.md, chart.svg.`);
}

/** As they are listed, whichever was measured last. */
function inOrder(results: Results): Results {
  return Object.fromEntries(BENCHMARKS.flatMap(({ name }) => (results[name] ? [[name, results[name]]] : [])));
}

async function versionOfRedis(): Promise<string> {
  const server = await startOwnServer();
  const probe = new RedisProbe(server.url);
  const version = await probe.version();
  probe.close();
  await server.stop();
  return version;
}

async function configurations(
  contestants: readonly ContestantName[],
): Promise<Partial<Record<ContestantName, string>>> {
  const each = contestants.map(async (name) => [name, (await loadContestant(name)).configured] as const);
  return Object.fromEntries(await Promise.all(each));
}

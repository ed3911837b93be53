import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, release, type as systemType, totalmem } from 'node:os';
import { type ContestantName, PEERS } from './contestants/contestant.js';
import { versionOf } from './peers.js';
import type { Setting } from './report/results.js';

const OWN_VERSIONS = ['@nestjs/core', 'ioredis', 'class-validator'];

/** Where and with what this run measures. */
export function describeSetting(
  run: Pick<Setting, 'command' | 'rounds' | 'quick'>,
  contestants: readonly ContestantName[],
  redisVersion: string,
): Setting {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const peers = PEERS.filter((name) => contestants.includes(name));
  const packages = [...OWN_VERSIONS, ...peers].map((name) => [name, versionOf(name)]);
  return {
    at: new Date().toISOString(),
    ...run,
    commit: commit(),
    machine: machine(),
    loadBefore: loadavg()[0]!,
    versions: {
      'this library': version,
      node: process.versions.node,
      redis: redisVersion,
      ...Object.fromEntries(packages),
    },
  };
}

function machine(): string {
  const [first] = cpus();
  const gib = Math.round(totalmem() / 1024 ** 3);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${gib} GiB, ${systemType()} ${release()} ${arch()}`;
}

function commit(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const changed = git('status', '--porcelain', '--', 'lib', 'bench').trim() !== '';
    return git('rev-parse', '--short', 'HEAD').trim() + (changed ? ' and changes' : '');
  } catch {
    return 'unknown';
  }
}

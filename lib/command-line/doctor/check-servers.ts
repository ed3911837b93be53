import { QueueUnavailableError } from '../../core/errors.js';
import {
  evictionPolicy,
  field,
  oldVersion,
  replica,
  twoPrimaries,
  untestedServer,
  weakPersistence,
} from '../../store/redis/checks/server-info.js';
import type { Told } from '../../store/redis/checks/servers.js';
import type { BareInstance } from '../bare-instance.js';
import { about } from '../text/time.js';
import { type Finding, judge, NotKnown } from './finding.js';
import { strayKeys } from './stray-keys.js';

/** Further apart, and jobs are early or late by more than a person would put up with. */
const CLOCKS_APART_MS = 5_000;

/** The checks that are about all queues. */
export async function checkServers(instance: BareInstance, queues: readonly string[]): Promise<Finding[]> {
  const { servers } = instance.store;
  const info = servers.info();
  const byInfo = (line: string, looks: (info: string) => readonly (string | undefined)[]) => async () =>
    eachSaid(await info, (told) => {
      if (field(told, line) === undefined) throw new NotKnown(`Redis does not tell ${line} in answer to INFO.`);
      return looks(told);
    });
  const server = byInfo('redis_version', (told) => [
    twoPrimaries(told),
    untestedServer(told),
    oldVersion(told),
    replica(told),
  ]);
  const lacking = servers.lacking(queues);
  const found = await Promise.all([
    judge('server', async () => (await unsupported(lacking)) ?? server()),
    judge(
      'eviction',
      byInfo('maxmemory_policy', (told) => [evictionPolicy(told)]),
    ),
    judge('persistence', byInfo('aof_enabled', weakPersistence)),
    judge('permissions', async () => {
      const words = (await lacking).join(' ');
      if (words === '') return [];
      const user = await servers.user();
      return [
        `The Redis user '${user}' lacks ${words}, which the library uses: ACL SETUSER ${user} ${words}. What you may do without, docs/security.md says.`,
      ];
    }),
    judge('clock', async () => eachSaid(await servers.clockOffsetsMs(), (offsetMs) => [clockFault(offsetMs)])),
    judge('stray-keys', () => strayKeys(instance)),
  ]);
  return found.flat();
}

/** The address stands before a fault where there are several servers. */
function eachSaid<T>(all: readonly Told<T>[], faultsOf: (told: T) => readonly (string | undefined)[]): string[] {
  return all.flatMap(({ address, told }) =>
    faultsOf(told).flatMap((fault) => {
      if (fault === undefined) return [];
      return all.length > 1 ? `${address}: ${fault}` : fault;
    }),
  );
}

/** Scripts cannot run on this server. */
async function unsupported(trial: Promise<unknown>): Promise<string[] | undefined> {
  try {
    await trial;
  } catch (error) {
    if (error instanceof QueueUnavailableError && error.redisCode === 'UNSUPPORTED') return [error.message];
  }
  return undefined;
}

function clockFault(offsetMs: number): string | undefined {
  if (Math.abs(offsetMs) <= CLOCKS_APART_MS) return undefined;
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return `The clock of Redis is ${about(Math.abs(offsetMs))} ${side} that of this machine: keep both right by NTP. Jobs go by that of Redis.`;
}

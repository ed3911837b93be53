/** The scripts use ZRANGE BYSCORE and SMISMEMBER, which this version brought. */
const OLDEST_VERSION = [6, 2] as const;

/** By which line of INFO servers are known that speak as Redis does and are none: no release of this library is tested on them. */
const UNTESTED = {
  Dragonfly: 'dragonfly_version',
  Garnet: 'garnet_version',
  KeyDB: 'mvcc_depth',
  Kvrocks: 'kvrocks_version',
  Upstash: 'upstash_version',
} as const;

/** The value of a line of INFO. */
export function field(info: string, name: string): string | undefined {
  return info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
}

/*
 * Each of these takes the answer of INFO and says in a sentence what is wrong and what to do; `undefined` where nothing is, or where
 * INFO does not say.
 */

/** This server must not hold jobs. */
export function twoPrimaries(info: string): string | undefined {
  if (field(info, 'role') !== 'active-replica') return undefined;
  return 'This server is a primary beside another one that takes writes too (INFO: role:active-replica), so each would hand out the same jobs. Switch active-replica off, and use one primary with replicas.';
}

export function oldVersion(info: string): string | undefined {
  const version = field(info, 'redis_version');
  const parts = version?.match(/^(\d+)\.(\d+)/);
  if (!parts) return undefined;
  const [major, minor] = [Number(parts[1]), Number(parts[2])];
  if (major > OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor >= OLDEST_VERSION[1])) return undefined;
  return `Redis is of version ${version}, and ${OLDEST_VERSION.join('.')} or later is needed: workers cannot claim. Upgrade it.`;
}

export function untestedServer(info: string): string | undefined {
  const name = Object.entries(UNTESTED).find(([, line]) => field(info, line) !== undefined)?.[0];
  return (
    name &&
    `This server is ${name}, on which no release of this library is tested. Use Redis or Valkey for jobs that matter.`
  );
}

export function evictionPolicy(info: string): string | undefined {
  const policy = field(info, 'maxmemory_policy');
  if (!policy || policy === 'noeviction') return undefined;
  const loss = policy.startsWith('allkeys-')
    ? 'when its memory is full it deletes jobs, whole lanes of them, without a word'
    : 'when its memory is full it deletes what tells a repeated call from a new one, so that jobs may be there twice';
  return `Redis has the eviction policy '${policy}': ${loss}. Set maxmemory-policy noeviction.`;
}

export function replica(info: string): string | undefined {
  if (field(info, 'role') !== 'slave') return undefined;
  return 'This server is a replica and takes no writes. Name the primary, or use Sentinel.';
}

/** Why Redis would lose what it holds; none where nothing is wrong. */
export function weakPersistence(info: string): string[] {
  const found: string[] = [];
  if (field(info, 'aof_enabled') === '0' && field(info, 'connected_slaves') === '0')
    found.push('Redis has no AOF and no replica, so a restart loses jobs. Set appendonly yes.');
  for (const [name, what] of [
    ['rdb_last_bgsave_status', 'snapshot'],
    ['aof_last_write_status', 'write to the AOF'],
  ] as const) {
    const status = field(info, name);
    if (status !== undefined && status !== 'ok')
      found.push(
        `The last ${what} of Redis has failed (${name}:${status}). Look at its log and at the room on its disk.`,
      );
  }
  return found;
}

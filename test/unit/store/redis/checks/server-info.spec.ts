import { expect, it } from '@jest/globals';
import {
  evictionPolicy,
  field,
  oldVersion,
  replica,
  twoPrimaries,
  untestedServer,
  weakPersistence,
} from '../../../../../lib/store/redis/checks/server-info.js';

// What no server on this machine says of itself.

const info = (...lines: string[]) => `# Server\r\n${lines.join('\r\n')}\r\n`;

it.each([
  ['6.0.16', true],
  ['5.0.14', true],
  ['6.2.0', false],
  ['7.0.15', false],
  ['10.0.1', false],
  ['unstable', false],
])('version %s is too old: %s', (version, isOld) => {
  expect(oldVersion(info(`redis_version:${version}`)) !== undefined).toBe(isOld);
});

it.each([
  ['Redis', ['redis_version:7.0.15', 'gcc_version:12.2.0'], undefined],
  ['Valkey', ['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.0.1'], undefined],
  [
    'Dragonfly',
    ['redis_version:7.4.0', 'dragonfly_version:df-v1.24.0'],
    /^This server is Dragonfly, on which no release/,
  ],
])('whether a test has run on %s', (_, lines, told) => {
  expect(untestedServer(info(...lines))).toEqual(told && expect.stringMatching(told));
});

it('a write to the AOF that has failed is a fault, with or without a replica', () => {
  const state = ['aof_enabled:1', 'connected_slaves:1', 'rdb_last_bgsave_status:ok', 'aof_last_write_status:err'];
  expect(weakPersistence(info(...state))).toEqual([expect.stringContaining('aof_last_write_status:err')]);
});

it('neither an AOF nor a replica is a fault, one of them is none', () => {
  const faults = (aof: number, replicas: number) =>
    weakPersistence(info(`aof_enabled:${aof}`, `connected_slaves:${replicas}`));
  expect(faults(0, 0)).toEqual([expect.stringContaining('Set appendonly yes')]);
  expect([...faults(1, 0), ...faults(0, 1)]).toEqual([]);
});

it('what a server does not tell is no fault', () => {
  const said = info('redis_mode:standalone');
  expect([field(said, 'role'), field(said, 'redis_mode')]).toEqual([undefined, 'standalone']);
  const found = [oldVersion, evictionPolicy, untestedServer, replica, twoPrimaries].map((look) => look(said));
  expect([...found, ...weakPersistence(said)].filter(Boolean)).toEqual([]);
});

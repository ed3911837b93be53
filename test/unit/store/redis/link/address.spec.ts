import { expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { addressOf, secretsOf } from '../../../../../lib/store/redis/link/address.js';
import { reasonOf, unavailable, withoutSecretsOf } from '../../../../../lib/store/redis/link/call-error.js';
import { ClientFactory } from '../../../../../lib/store/redis/link/client.js';
import { whyLost } from '../../../../../lib/store/redis/link/reachability.js';

const SECRET = 'correct-horse';
const given = new Redis({ host: 'given', port: 7311, db: 4, password: SECRET, lazyConnect: true });
const givenCluster = new Cluster([{ host: 'given', port: 7000 }], {
  lazyConnect: true,
  redisOptions: { password: SECRET },
});

it.each<[string, unknown, string]>([
  ['a URL', `redis://user:${SECRET}@host:7311/2`, 'redis://host:7311/2'],
  ['a URL with nothing but a scheme', 'redis://', 'redis://localhost:6379/0'],
  ['a URL with TLS', `rediss://:${SECRET}@host`, 'rediss://host:6379/0'],
  ['an address of IPv6', 'redis://[::1]:7311', 'redis://[::1]:7311/0'],
  ['a socket', '/tmp/redis.sock', 'the socket /tmp/redis.sock, database 0'],
  ['options', { host: 'host', port: 1, db: 3, username: 'user', password: SECRET }, 'redis://host:1/3'],
  [
    'sentinels',
    {
      sentinels: [{ host: 'a', port: 1 }, { host: 'b', port: 2 }, { host: 'c', port: 3 }, { host: 'd' }],
      name: 'main',
      sentinelPassword: SECRET,
      db: 1,
    },
    `the primary 'main' of the sentinels a:1, b:2, c:3 and 1 more, database 1`,
  ],
  [
    'the nodes of a cluster',
    { cluster: { nodes: [`redis://:${SECRET}@a:1`, 'b:2', 7000], options: { redisOptions: { password: SECRET } } } },
    'the cluster at a:1, b:2, 127.0.0.1:7000',
  ],
  ['a client', given, 'redis://given:7311/4'],
  ['a client of a cluster', givenCluster, 'the cluster at given:7000'],
])('the log names %s without user and password', (_, connection, address) => {
  const client = new ClientFactory(connection, 1_000).commands();
  expect(addressOf(client)).toBe(address);
  for (const secret of secretsOf(client)) expect(secret).toBe(SECRET);
});

it.each<[string, unknown]>([
  ['host', { host: `redis://user:${SECRET}/x@host:1` }],
  ['host of a sentinel', { sentinels: [{ host: `redis://:${SECRET}@host:1` }], name: 'main' }],
  ['host of a node', { cluster: { nodes: [{ host: `redis://:${SECRET}@host:1`, port: 1 }] } }],
  ['path', { path: `redis://:${SECRET}/x@host:1` }],
])('a URL in the place of a %s is told without its password', (_, connection) => {
  const client = new ClientFactory(connection, 1_000).commands();
  expect(addressOf(client)).toContain('host:1');
  const error = new Error(`getaddrinfo ENOTFOUND redis://user:${SECRET}/x@host:1`);
  const told = [addressOf(client), whyLost(client, error)?.message].join();
  expect(told).not.toContain(SECRET);
});

it('why a connection failed is in the errors inside, where ioredis says nothing of its own', () => {
  const inner = ['::1:1', '127.0.0.1:1'].map((address) => new Error(`connect ECONNREFUSED ${address}`));
  const aggregate = Object.assign(new AggregateError(inner, ''), { code: 'ECONNREFUSED' });
  const both = { message: 'connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1', code: 'ECONNREFUSED' };
  expect(reasonOf(aggregate as never)).toEqual(both);
  const ofCluster = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: aggregate });
  expect(reasonOf(ofCluster as never)).toEqual({ ...both, message: `Failed to refresh slots cache: ${both.message}` });
});

it('a password that somebody answers with is not told', () => {
  const text = `could not reach redis://user:${SECRET}@host:1 with ${SECRET}`;
  expect(withoutSecretsOf(text, [SECRET])).toBe('could not reach redis://***@host:1 with ***');
});

it('an error says once why Redis cannot be reached, and its cause has the code', () => {
  const error = unavailable('no connection in time', false, {
    message: 'connect ECONNREFUSED ::1:1',
    code: 'ECONNREFUSED',
  });
  expect(error.message).toBe(
    'Redis is unavailable (no connection in time: connect ECONNREFUSED ::1:1); the call has not happened.',
  );
  expect(error.cause).toMatchObject({ message: 'connect ECONNREFUSED ::1:1', code: 'ECONNREFUSED' });
  const again = unavailable('connect ECONNREFUSED ::1:1', false, { message: 'connect ECONNREFUSED ::1:1' });
  expect(again.message).toBe('Redis is unavailable (connect ECONNREFUSED ::1:1); the call has not happened.');
  expect(unavailable('no answer in time', true)).not.toHaveProperty('cause');
});

import { expect, it } from '@jest/globals';
import { ClientFactory } from '../../../../../lib/store/redis/link/client.js';

it.each<[string, object]>([
  ['redis://host', { host: 'host', port: 6379 }],
  ['redis://', { host: 'localhost' }],
  ['redis:///3', { db: 3 }],
  ['rediss://user:p%2Fw@host:1/2', { host: 'host', port: 1, username: 'user', password: 'p/w', db: 2 }],
  ['redis://:p@w@host', { host: 'host', password: 'p@w' }],
  ['redis://host?family=6', { family: 6 }],
  ['//host:1', { host: 'host', port: 1 }],
  ['/tmp/redis.sock', { path: '/tmp/redis.sock' }],
])('takes the connection %s', (connection, options) => {
  expect(new ClientFactory(connection, 1_000).commands().options).toMatchObject(options);
});

it('takes a database as digits, as the environment has them', () => {
  expect(new ClientFactory({ host: 'host', db: '2' }, 1_000).commands().options).toMatchObject({ db: 2 });
});

it.each([[['redis://:secret@host:1']], [['host:1', 'redis://host']], [[{ host: 'host', port: 1 }, 7000]]])(
  'takes the nodes %j of a cluster',
  (nodes) => {
    const client = new ClientFactory({ cluster: { nodes } }, 1_000).commands();
    expect(client.isCluster).toBe(true);
  },
);

it.each<[unknown, string]>([
  ['redis://host/abc', 'connection: got a database that is not a number,'],
  ['redis://host/-1', 'connection: got the database -1,'],
  [{ host: 'host', db: 'abc' }, 'connection: db: got the database "abc",'],
  [{ host: 'host', db: 1.5 }, 'connection: db: got the database 1.5,'],
  [{ host: 'host', db: Number.NaN }, 'connection: db: got a database that is not a number,'],
])('refuses the database of %j, by whose answer ioredis would end the process', (connection, problem) => {
  expect(() => new ClientFactory(connection, 1_000)).toThrow(
    `RedisScheduledQueueModule: ${problem} expected a whole number of at least 0, such as 0.`,
  );
});

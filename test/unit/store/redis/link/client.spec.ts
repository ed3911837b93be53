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

it.each([[['redis://:secret@host:1']], [['host:1', 'redis://host']], [[{ host: 'host', port: 1 }, 7000]]])(
  'takes the nodes %j of a cluster',
  (nodes) => {
    const client = new ClientFactory({ cluster: { nodes } }, 1_000).commands();
    expect(client.isCluster).toBe(true);
  },
);

import { expect, it } from '@jest/globals';
import { connectionOf } from '../../../lib/command-line/connection.js';

const SECRET = 'hunter2';

it('takes the server of --url, else of REDIS_URL, else the one on this machine', () => {
  const env = { REDIS_URL: 'redis://from-env:1' };
  expect(connectionOf({ url: 'redis://typed:2' }, env)).toBe('redis://typed:2');
  expect(connectionOf({}, env)).toBe('redis://from-env:1');
  expect(connectionOf({}, { REDIS_URL: '' })).toBe('redis://localhost:6379');
});

it('takes a host and port for a URL, and leaves URLs and sockets as they are', () => {
  expect(connectionOf({ url: 'redis-7.internal:6380' }, {})).toBe('redis://redis-7.internal:6380');
  expect(connectionOf({ url: `rediss://queue:${SECRET}@a/3` }, {})).toBe(`rediss://queue:${SECRET}@a/3`);
  expect(connectionOf({ url: '/run/redis.sock' }, {})).toBe('/run/redis.sock');
});

it('reads several nodes of a cluster, of which the first may be a URL', () => {
  expect(connectionOf({ url: 'a:6379,b,[::1]:7', cluster: true }, {})).toEqual({
    cluster: {
      nodes: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 6379 },
        { host: '::1', port: 7 },
      ],
      options: { redisOptions: {} },
    },
  });
  // A password may hold a comma, and whatever else is encoded.
  expect(connectionOf({ url: 'rediss://queue:hunter,%402@a:1,b:2', cluster: true }, {})).toEqual({
    cluster: {
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
      options: { redisOptions: { username: 'queue', password: 'hunter,@2', tls: {} } },
    },
  });
});

it('reads sentinels, and the user and the database of the master from the first', () => {
  expect(connectionOf({ url: `redis://:${SECRET}@s1:26379/2,s2:26379`, sentinel: 'main' }, {})).toEqual({
    sentinels: [
      { host: 's1', port: 26379 },
      { host: 's2', port: 26379 },
    ],
    name: 'main',
    password: SECRET,
    db: 2,
  });
  expect(connectionOf({ url: 'rediss://s1', sentinel: 'main' }, {})).toMatchObject({
    tls: {},
    sentinelTLS: {},
    enableTLSForSentinelMode: true,
  });
});

it.each([
  [{ url: `redis://:${SECRET}@a,b` }, '--url: got 2 nodes, expected one, or --cluster, or --sentinel <master>.'],
  [{ url: 'a', cluster: true as const, sentinel: 'm' }, 'got --cluster and --sentinel, expected one of them'],
  [{ url: `http://:${SECRET}@a`, cluster: true as const }, '--url: node 1 cannot be read, expected host:port'],
  [{ url: `redis://:${SECRET}%@a`, cluster: true as const }, '--url: node 1 cannot be read, expected host:port'],
  [{ url: `redis://${SECRET}#1@a,b`, cluster: true as const }, '--url: node 1 cannot be read, expected host:port'],
  [{ url: `redis://:${SECRET}@a,b:port`, cluster: true as const }, '--url: node 2 cannot be read, expected host:port'],
])('refuses %j, and shows nothing of a password', (options, message) => {
  expect(() => connectionOf(options, {})).toThrow(message);
  expect(() => connectionOf(options, {})).not.toThrow(SECRET);
});

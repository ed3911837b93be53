import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer | undefined;
let proxy: TcpProxy | undefined;
let ownQuestions = 0;

afterEach(async () => {
  await stopApps();
  await proxy?.stop();
  await server?.stop();
  proxy = server = undefined;
  ownQuestions = 0;
});

/** What an application says that schedules a job on this Redis and runs it. */
async function linesOfFirstUse(connection: string): Promise<string[]> {
  const log = new LogLines();
  const { producer, get } = await startApp([Work], { connection }, { log });
  await producer.schedule('work', 1);
  await until('it runs', () => get(Work).runs.length === 1);
  await until('it has looked', async () => (await timesAsked()) > 3);
  // Its answer has passed once one that was asked for later has.
  await producer.schedule('work', 2);
  return log.lines;
}

/** How often INFO was asked for: ioredis does so once for each of the three connections. */
async function timesAsked(): Promise<number> {
  const admin = new Redis(server!.url);
  try {
    const stats = await admin.info('commandstats');
    const [, calls, refused] = stats.match(/^cmdstat_info:calls=(\d+),.*rejected_calls=(\d+)/m) ?? [];
    const own = ++ownQuestions * 2;
    return Number(calls ?? 0) + Number(refused ?? 0) - own + 1;
  } finally {
    admin.disconnect();
  }
}

it('an eviction policy that may delete jobs is warned about once, at start', async () => {
  server = await startOwnServer('--maxmemory-policy', 'allkeys-lru');
  expect(await linesOfFirstUse(server.url)).toEqual([
    expect.stringMatching(/^warn .*'allkeys-lru'.*deletes jobs.*maxmemory-policy noeviction/),
  ]);
});

it('one that may delete the records of calls is warned about too', async () => {
  server = await startOwnServer('--maxmemory-policy', 'volatile-ttl');
  expect(await linesOfFirstUse(server.url)).toEqual([
    expect.stringMatching(/^warn .*'volatile-ttl'.*twice.*maxmemory-policy noeviction/),
  ]);
});

it('a Redis that is too old is named with its version', async () => {
  server = await startOwnServer();
  proxy = await TcpProxy.start(server.url);
  proxy.rewrite((reply) => reply.replace(/redis_version:\d+\.\d/, 'redis_version:6.0'));
  expect(await linesOfFirstUse(proxy.url)).toEqual([expect.stringMatching(/^warn .*version 6\.0\.\d+, and 6\.2/)]);
});

it('a server that speaks as Redis does and is none of those that were tested is named', async () => {
  server = await startOwnServer();
  proxy = await TcpProxy.start(server.url);
  proxy.rewrite((reply) => reply.replace(/redis_git_sha1:\w{8}/, 'dragonfly_version:df-v1'));
  expect(await linesOfFirstUse(proxy.url)).toEqual([
    expect.stringMatching(/^warn This server is Dragonfly, on which no release/),
  ]);
});

it('a Redis with noeviction and of a version that does is not commented on', async () => {
  server = await startOwnServer();
  expect(await linesOfFirstUse(server.url)).toEqual([]);
});

it('a Redis that forbids INFO, as a managed one may, is not commented on, and jobs run', async () => {
  server = await startOwnServer(
    '--maxmemory-policy',
    'allkeys-lru',
    '--user',
    ...'queue on nopass ~* &* +@all -info'.split(' '),
  );
  expect(await linesOfFirstUse(server.url.replace('redis://', 'redis://queue:any@'))).toEqual([]);
});

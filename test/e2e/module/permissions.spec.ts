import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueueUnavailableError } from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { TRIED_COMMANDS } from '../../support/tried-commands.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer;
let proxy: TcpProxy;
let admin: Redis;
let log: LogLines;

beforeEach(async () => {
  server = await startOwnServer('--databases', '16');
  proxy = await TcpProxy.start(server.url);
  admin = new Redis(server.url);
  log = new LogLines();
});

afterEach(async () => {
  admin.disconnect();
  await stopApps();
  await proxy.stop();
  await server.stop();
});

const urlOf = (user: string) => proxy.url.replace('redis://', `redis://${user}:any@`);
const allow = (user: string, ...rules: string[]) => admin.acl('SETUSER', user, ...rules);
const newUser = (user: string, ...without: string[]) => allow(user, 'on', 'nopass', '~*', '&*', '+@all', ...without);

async function refusal(call: Promise<unknown>): Promise<QueueUnavailableError> {
  const error = await call.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(QueueUnavailableError);
  return error;
}

async function runs(app: QueueApp, id: string): Promise<void> {
  await until('it is scheduled', () => app.producer.schedule('work', 1, { id }).catch(() => undefined));
  await until(`${id} runs`, () => app.get(Work).has(id));
}

it('each command that is missing alone is named, and nothing is written without it', async () => {
  expect(TRIED_COMMANDS.length).toBeGreaterThan(20);
  for (const command of TRIED_COMMANDS) await newUser(`no-${command}`, `-${command}`);
  const failed = TRIED_COMMANDS.map(async (command) => {
    const [prefix, connection] = [newPrefix(), urlOf(`no-${command}`)];
    const app = await startApp([Work], { prefix, connection, role: 'producer' }, { log });
    const error = await refusal(app.producer.schedule('work', 1, { id: 'a' }));
    expect(error).toMatchObject({ outcome: 'refused', redisCode: 'NOPERM', jobId: 'a' });
    expect(error.message).toContain(`the user 'no-${command}' lacks +${command},`);
    await refusal(app.producer.cancel('a'));
    expect(log.lines.filter((line) => line.endsWith(`: ACL SETUSER no-${command} +${command}`))).toHaveLength(1);
    expect(await admin.keys(`${prefix}:*`)).toEqual([]);
  });
  await Promise.all(failed);
  expect(log.lines).toHaveLength(TRIED_COMMANDS.length);
});

it('several that are missing are named together, by producers and workers once, and work goes on once they are given', async () => {
  await newUser('queue', '-zrem', '-exists', '-sadd', '-del');
  const app = await startApp([Work], { connection: urlOf('queue') }, { log });
  await refusal(app.producer.schedule('work', 1));
  await until('the worker says so', () => log.lines.length === 2);
  const { message } = await refusal(app.producer.schedule('work', 1));
  expect(message).toContain('+exists +zrem +del,');
  expect(await admin.dbsize()).toBe(0);
  expect(log.lines.filter((line) => line.includes('The Redis user'))).toHaveLength(1);
  await allow('queue', '+zrem', '+exists', '+del');
  // Tried only where what it adds can be taken away again.
  await until('the last one is told', async () =>
    (await refusal(app.producer.schedule('work', 1))).message.match(/lacks \+sadd,/),
  );
  await allow('queue', '+sadd');
  await runs(app, 'a');
  await until('the worker goes on', () => log.starting('log The worker').length === 1);
  expect(log.starting('log The Redis user')).toEqual([expect.stringContaining('may run all commands')]);
  expect(await audit(admin, app.prefix)).toEqual([]);
});

it('a command that was taken away is missed by the next connection, before anything is written', async () => {
  await newUser('queue');
  const app = await startApp([Work], { connection: urlOf('queue') }, { log });
  await runs(app, 'a');
  // A script that is denied a command has written what came before it, so the job must have ended.
  await until('it has ended', async () => (await app.inspector.stats()).completed === 1);
  await allow('queue', '-hincrby');
  proxy.cutAll();
  expect((await refusal(app.producer.schedule('work', 1, { id: 'b' }))).message).toContain('+hincrby,');
  expect(await audit(admin, app.prefix)).toEqual([]);
  await allow('queue', '+hincrby');
  await runs(app, 'b');
});

it('one that is taken away from a connection that stands is named from the second call on', async () => {
  await newUser('queue');
  const app = await startApp([Work], { connection: urlOf('queue') }, { log });
  await runs(app, 'a');
  // A script that is denied a command has written what came before it, so the job must have ended.
  await until('it has ended', async () => (await app.inspector.stats()).completed === 1);
  await allow('queue', '-hincrby');
  await refusal(app.producer.schedule('work', 1, { id: 'b' }));
  expect((await refusal(app.producer.schedule('work', 1, { id: 'c' }))).message).toContain('+hincrby,');
  expect(log.starting('error The Redis user')).toHaveLength(1);
});

it('what is right costs one script a connection, and leaves nothing in ACL LOG', async () => {
  await newUser('queue');
  const app = await startApp([Work], { connection: urlOf('queue') }, { log });
  for (const id of ['a', 'b', 'c']) await runs(app, id);
  const stats = await admin.info('commandstats');
  // Of producer and workers; no other script uses it.
  expect(stats).toMatch(/^cmdstat_zmscore:calls=2,/m);
  expect(await admin.keys('*:trial')).toEqual([]);
  expect(await admin.acl('LOG')).toEqual([]);
});

it('a database that there is not is named, and no job lands in another one', async () => {
  const app = await startApp([Work], { connection: `${proxy.url}/99` }, { log });
  const error = await refusal(app.producer.schedule('work', 1, { id: 'a' }));
  expect(error).toMatchObject({ outcome: 'refused', redisCode: 'ERR', jobId: 'a' });
  expect(error.message).toContain('database 99 cannot be used: DB index is out of range');
  await refusal(app.inspector.counts());
  await until('the worker says so', () => log.starting('error The worker').length === 1);
  expect(log.starting('warn')).toEqual([expect.stringMatching(/^warn Redis cannot be reached \(database 99: ERR DB/)]);
  proxy.cutAll();
  await refusal(app.producer.schedule('work', 1));
  expect(log.starting('log')).toEqual([]);
  expect(await admin.dbsize()).toBe(0);
});

it('without the permission to select no job lands in database 0, and with it they go to the one that is meant', async () => {
  await newUser('queue', '-select', '-zadd');
  const app = await startApp([Work], { connection: `${urlOf('queue')}/3` }, { log });
  const error = await refusal(app.producer.schedule('work', 1, { id: 'a' }));
  expect(error).toMatchObject({ outcome: 'refused', redisCode: 'NOPERM' });
  expect(error.message).toContain('database 3 cannot be used');
  await allow('queue', '+select');
  // Told by itself, though something else is missing as well.
  await until('the next one is told', async () =>
    (await refusal(app.producer.schedule('work', 1))).message.includes('+zadd'),
  );
  await until('it is told', () => log.starting('log Redis is back').length === 1);
  await allow('queue', '+zadd');
  await runs(app, 'a');
  expect(await admin.dbsize()).toBe(0);

  await allow('queue', '-select');
  proxy.cutAll();
  expect((await refusal(app.producer.schedule('work', 1, { id: 'b' }))).message).toContain('database 3');
  await allow('queue', '+select');
  await runs(app, 'b');
  expect(await admin.dbsize()).toBe(0);
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { audit } from '../../support/audit.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const SECRET = 'correct-horse';
const OTHER_SECRET = 'battery-staple';
/** What is promised, and a second for a machine that does other things. */
const BACK_WITHIN_MS = 2_000 + 1_000;

let server: OwnRedisServer;
let proxy: TcpProxy;
let admin: Redis;
let log: LogLines;

beforeEach(async () => {
  server = await startOwnServer();
  proxy = await TcpProxy.start(server.url);
  admin = new Redis(server.url);
  log = new LogLines();
  await admin.acl('SETUSER', 'queue', 'on', `>${SECRET}`, '~*', '&*', '+@all');
});

afterEach(async () => {
  admin.disconnect();
  await stopApps();
  await proxy.stop();
  await server.stop();
});

const urlWith = (secret: string) => proxy.url.replace('redis://', `redis://queue:${secret}@`);
const refusal = (call: Promise<unknown>) => call.catch((error: unknown) => error);

/** What is logged in the next so many ms, and how many connections were asked for. */
async function observe(ms: number): Promise<number> {
  const [from, before] = [performance.now(), proxy.connections];
  await until('some time has passed', () => performance.now() > from + ms);
  return proxy.connections - before;
}

it('with a wrong password the application starts, tells it once without the password, and does not storm Redis', async () => {
  const app = await startApp([Work], { connection: urlWith(OTHER_SECRET), commandTimeoutMs: 1_500 }, { log });
  const error = await refusal(app.producer.schedule('work', 1, { id: 'again' }));
  expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', outcome: 'refused', jobId: 'again' });
  // Three connections, each of which tries again after a second at the most once it has tried some times.
  expect(await observe(2_000)).toBeLessThan(3 * 7);
  expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot be reached \(.*WRONGPASS/)]);
  expect(`${log.lines} ${error}`).not.toContain(OTHER_SECRET);

  await admin.acl('SETUSER', 'queue', `>${OTHER_SECRET}`);
  const allowedAt = performance.now();
  await until('it is scheduled', () => app.producer.schedule('work', 1, { id: 'again' }).catch(() => undefined));
  await until('it runs', () => app.get(Work).has('again'));
  const tookMs = app.get(Work).runs[0]!.startedAt - allowedAt;
  process.stdout.write(`claimed ${Math.round(tookMs)} ms after the password was right\n`);
  expect(tookMs).toBeLessThan(BACK_WITHIN_MS);
  await until('the return is told', () => log.lines.length === 2);
  expect(log.lines[1]).toMatch(/^log Redis is back/);
});

it('a password that is changed while an application runs is told once when connections are made anew', async () => {
  const app = await startApp([Work], { connection: urlWith(SECRET), commandTimeoutMs: 1_500 }, { log });
  await app.producer.schedule('work', 1);
  await until('it runs', async () => (await app.inspector.stats()).completed === 1);
  await admin.acl('SETUSER', 'queue', 'resetpass', `>${OTHER_SECRET}`);
  // Redis lets connections that stand go on; the next ones are refused.
  proxy.cutAll();
  expect(await refusal(app.producer.schedule('work', 1, { id: 'again' }))).toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    jobId: 'again',
  });
  expect(await observe(1_500)).toBeLessThan(3 * 7);
  expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot be reached/)]);
  await admin.acl('SETUSER', 'queue', `>${SECRET}`);
  await until('it is scheduled', () => app.producer.schedule('work', 1, { id: 'again' }).catch(() => undefined));
  await until('it runs', () => app.get(Work).has('again'));
  await until('the return is told', () => log.lines.length === 2);
  expect(log.lines[1]).toMatch(/^log Redis is back/);
  expect(log.lines.join()).not.toContain(SECRET);
});

it('a permission that is taken away while an application runs is told by its name, and nothing is half written', async () => {
  const prefix = newPrefix();
  const app = await startApp([Work], { connection: urlWith(SECRET), prefix }, { log });
  await app.producer.schedule('work', 1);
  await until('it runs', async () => (await app.inspector.stats()).completed === 1);
  await admin.acl('SETUSER', 'queue', '-evalsha', '-eval');
  expect(await refusal(app.producer.schedule('work', 'payload', { id: 'again' }))).toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    outcome: 'refused',
    redisCode: 'NOPERM',
    jobId: 'again',
  });
  await until('the worker says so', () => log.lines.length > 0);
  expect(await observe(1_500)).toBe(0);
  expect(log.lines).toEqual([expect.stringMatching(/^error The worker of queue 'default' cannot go on.*NOPERM/)]);
  expect(await audit(admin, prefix)).toEqual([]);

  await admin.acl('SETUSER', 'queue', '+evalsha', '+eval');
  const allowedAt = performance.now();
  await app.producer.schedule('work', 'payload', { id: 'again' });
  await until('it runs', () => app.get(Work).has('again'));
  expect(app.get(Work).runs[1]!.startedAt - allowedAt).toBeLessThan(BACK_WITHIN_MS);
  await until('that is told', () => log.lines.length === 2);
  expect(log.lines[1]).toBe("log The worker of queue 'default' goes on.");
  expect(await audit(admin, prefix)).toEqual([]);
});

it('more connections than Redis takes are told once, and made when there is room', async () => {
  await admin.config('SET', 'maxclients', '1');
  const app = await startApp([Work], { connection: urlWith(SECRET), commandTimeoutMs: 1_500 }, { log });
  expect(await refusal(app.producer.schedule('work', 1, { id: 'again' }))).toMatchObject({ outcome: 'refused' });
  expect(await observe(1_000)).toBeLessThan(3 * 7);
  expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot be reached/)]);
  await admin.config('SET', 'maxclients', '1000');
  await until('it is scheduled', () => app.producer.schedule('work', 1, { id: 'again' }).catch(() => undefined));
  await until('it runs', () => app.get(Work).has('again'));
  await until('the return is told', () => log.lines.length === 2);
});

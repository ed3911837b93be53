import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { typed } from '../../support/command-line.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer | undefined;
let proxy: TcpProxy | undefined;
let admin: Redis | undefined;

afterEach(async () => {
  await stopApps();
  admin?.disconnect();
  await proxy?.stop();
  await server?.stop();
  proxy = server = admin = undefined;
});

/** Schedules there, and looks whether the call was refused for this reason, and the worker said the same, with nothing written. */
async function expectRefusal(connection: string, why: RegExp): Promise<void> {
  const log = new LogLines();
  const { producer } = await startApp([Work], { connection }, { log });
  const refused = { code: 'QUEUE_UNAVAILABLE', outcome: 'refused', redisCode: 'UNSUPPORTED' };
  await expect(producer.schedule('work', 1)).rejects.toMatchObject({ ...refused, message: expect.stringMatching(why) });
  await until('the worker says it', () => log.lines.some((line) => line.startsWith('error') && why.test(line)));
  admin = new Redis(server!.url);
  expect(await admin.dbsize()).toBe(0);
}

it('one of two primaries that both take writes, as KeyDB can be, is refused until it is the only one', async () => {
  server = await startOwnServer();
  proxy = await TcpProxy.start(server.url);
  proxy.rewrite((reply) => reply.replaceAll('role:master\r\nconnected_slaves:0', 'role:active-replica\r\nslaves:000'));
  await expectRefusal(proxy.url, /beside another one that takes writes.* Switch active-replica off/);
  proxy.rewrite((reply) => reply);
  const { producer, get } = await startApp([Work], { connection: proxy.url });
  await producer.schedule('work', 1);
  await until('it runs', () => get(Work).runs.length === 1);
});

it('a server on which a command is switched off that jobs need is refused, and the command is named', async () => {
  server = await startOwnServer('--rename-command', 'PUBLISH', '', '--rename-command', 'ZREMRANGEBYRANK', '');
  await expectRefusal(server.url, /does not run ZREMRANGEBYRANK, PUBLISH in scripts/);
  const { code, out } = await typed(['doctor', '--json', '--url', server.url]);
  const said = { check: 'server', level: 'problem', message: expect.stringContaining('ZREMRANGEBYRANK, PUBLISH') };
  expect({ code, findings: JSON.parse(out) }).toEqual({ code: 1, findings: expect.arrayContaining([said]) });
});

it('a server that lets scripts use declared keys alone is told from one that does not', async () => {
  server = await startOwnServer();
  admin = new Redis(server.url);
  const { source } = SCRIPTS.permissions;
  const trial = (script: string) => admin!.eval(script, 1, 'sq:{default}:trial', 'sq:{default}:', 0);
  expect(await trial(source)).toEqual([]);
  // As Dragonfly answers.
  const strict = `
    local server = redis
    local redis = { call = server.call, error_reply = server.error_reply }
    function redis.pcall(command, key, ...)
      local isDeclared = command == 'PUBLISH' or key == nil or key == KEYS[1]
      if isDeclared then return server.pcall(command, key, ...) end
      return { err = 'ERR script tried accessing undeclared key, key: ' .. key }
    end
  `;
  await expect(trial(strict + source)).rejects.toThrow(/^UNSUPPORTED .*--default_lua_flags=allow-undeclared-keys/);
});

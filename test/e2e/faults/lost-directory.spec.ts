import { afterEach, expect, it } from '@jest/globals';
import { newPrefix, type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

let server: OwnRedisServer;

afterEach(async () => {
  await stopApps();
  await server.stop();
});

const namesOf = async ({ inspector }: QueueApp) => (await inspector.queues()).map(({ name }) => name);

it('after Redis has come back empty, queues() and * know each queue again that somebody goes on using', async () => {
  server = await startOwnServer();
  const options = { connection: server.url, prefix: newPrefix() };
  const working = await startApp([Work], options);
  const producing = await startApp([], { ...options, role: 'producer' });
  const looking = await startApp([], { ...options, role: 'producer' });
  const mail = { queue: 'mail', delay: '1h', tags: ['t'] } as const;
  await producing.producer.schedule('nobody', null, mail);
  await until('both are known', async () => (await namesOf(looking)).join() === 'default,mail');
  await server.kill();
  await server.restart();
  await producing.producer.schedule('nobody', null, mail);
  await until('the queues are known again', async () => (await namesOf(looking)).join() === 'default,mail');
  expect(await looking.inspector.cancelTagged('t', { queue: '*' })).toBe(1);
  await working.app.close();
});

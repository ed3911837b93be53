import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { sendScript } from '../../../../../lib/store/redis/link/send-script.js';
import { type OwnRedisServer, startOwnServer } from '../../../../support/redis-server.js';

const require = createRequire(import.meta.url);

/** As the ioredis that an application brings along for its own client. */
function anotherCopy(): typeof Redis {
  jest.resetModules();
  return (require('ioredis') as { Redis: typeof Redis }).Redis;
}

const KEYS = ['jobs', 'active', 'dead', 'completed', 'levels'].map((key) => `{q}:${key}`);
const ARGUMENTS = ['{q}:', '', 10];

let server: OwnRedisServer;
beforeAll(async () => {
  server = await startOwnServer();
});
afterAll(() => server.stop());

it('the other copy is another copy', async () => {
  const client = new (anotherCopy())(server.url);
  expect(client).not.toBeInstanceOf(Redis);
  client.disconnect();
});

describe.each([
  ['this copy', () => Redis],
  ['another copy', anotherCopy],
])('a client of %s of ioredis', (_, find) => {
  let client: Redis;
  beforeAll(() => {
    client = new (find())(server.url);
  });
  afterAll(() => client.disconnect());

  const count = (fromBytes?: (reply: unknown) => unknown) => sendScript(client, 'counts', KEYS, ARGUMENTS, fromBytes);

  it('gets the reply of a script that Redis does not have yet, and then of one that it has', async () => {
    await client.script('FLUSH');
    const first = await count();
    expect(await count()).toHaveLength((first as unknown[]).length);
    expect(first).toContainEqual(expect.stringMatching(/^\d{13}$/));
  });

  it('gets bytes where it asks for them', async () => {
    await client.script('FLUSH');
    const replies: unknown[] = [];
    for (let i = 0; i < 2; i++) await count((reply) => replies.push(reply));
    expect(replies).toHaveLength(2);
    for (const reply of replies) expect((reply as unknown[]).flat(5).some(Buffer.isBuffer)).toBe(true);
  });
});

it('an error of the client carries no argument of the call, as a payload may be among them', async () => {
  const client = new Redis(server.url);
  await client.set('{q}:levels', 'no sorted set');
  const call = sendScript(client, 'counts', KEYS, [...ARGUMENTS, 'a payload']);
  await expect(call).rejects.toMatchObject({ message: expect.stringMatching(/^WRONGTYPE/), command: { args: [] } });
  client.disconnect();
});

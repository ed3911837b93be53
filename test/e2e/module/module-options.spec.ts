import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidOptionsError,
  OnScheduledJob,
  RedisScheduledQueueModule,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';

afterEach(() => stopApps());

/** What an app that is set up like this is told; nothing of it needs a Redis. */
async function refusal(options: unknown): Promise<InvalidOptionsError> {
  const compiled = Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot(options as never)],
  }).compile();
  const error = await compiled.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidOptionsError);
  expect(error.code).toBe('INVALID_OPTIONS');
  return error;
}

it.each([
  [{ conection: 'redis://x' }, `RedisScheduledQueueModule: unknown option "conection", did you mean 'connection'?`],
  [
    { shutdownTimeout: 5 },
    `RedisScheduledQueueModule: unknown option "shutdownTimeout", did you mean 'shutdownTimeoutMs'?`,
  ],
  [
    { queues: { default: { concurency: 5 } } },
    `queues['default']: unknown option "concurency", did you mean 'concurrency'?`,
  ],
  [
    { queues: { default: { keepDead: { cuont: 5 } } } },
    `queues['default']: keepDead: unknown option "cuont", did you mean 'count'?`,
  ],
  [
    { jobs: { mail: { maxAttempt: 5 } } },
    `RedisScheduledQueueModule: jobs['mail']: unknown option "maxAttempt", did you mean 'maxAttempts'?`,
  ],
  [
    { jobs: { mail: { backoff: { type: 'fixed', delay: 5 } } } },
    `RedisScheduledQueueModule: jobs['mail']: backoff: unknown option "delay", did you mean 'delayMs'?`,
  ],
  [
    { jobs: { mail: { maxLatenessMs: 5 } } },
    `RedisScheduledQueueModule: jobs['mail']: unknown option "maxLatenessMs": give it to the definition or the call.`,
  ],
  [{ concurrency: 5 }, 'RedisScheduledQueueModule: unknown option "concurrency": it belongs to a queue'],
  [
    { rateLimit: { max: 1, perMs: 1 } },
    'unknown option "rateLimit": it belongs to a queue: queues: { default: { rateLimit } }',
  ],
  [{ zzzzzzzz: 1 }, 'RedisScheduledQueueModule: unknown option "zzzzzzzz", known are connection, prefix'],
])('refuses the unknown option in %j with the nearest known name', async (options, message) => {
  expect((await refusal(options)).message).toContain(message);
});

it.each([
  [{ role: 'consumer' }, `role: got "consumer", expected 'both' or 'producer' or 'worker'`],
  [{ prefix: 'a{b' }, 'prefix: got "a{b", expected 1 to 64'],
  [{ prefix: 'shop:' }, 'prefix: got "shop:", expected 1 to 64'],
  [{ prefix: '' }, 'prefix: got "", expected 1 to 64'],
  [{ workerId: 'a b' }, 'workerId: got "a b", expected 1 to 64'],
  [{ autoStart: 'false' }, 'autoStart: got "false", expected true or false'],
  [{ inheritAppConfig: 1 }, 'inheritAppConfig: got 1, expected true or false'],
  [{ shutdownTimeoutMs: -1 }, 'shutdownTimeoutMs: got -1, expected 0 or more milliseconds'],
  [{ shutdownTimeoutMs: '20' }, 'shutdownTimeoutMs: got "20", expected a number with a unit'],
  [{ shutdownTimeoutMs: Number.NaN }, 'shutdownTimeoutMs: got NaN, expected a finite number'],
  [{ commandTimeoutMs: 5 }, 'commandTimeoutMs: got 5, expected at least 100 ms'],
  [{ maxPayloadBytes: '1mb' }, 'maxPayloadBytes: got "1mb", expected a whole number'],
  [{ redact: 'password' }, 'redact: got "password", expected an array of names of properties'],
  [{ redact: [/pass/] }, 'redact: name 0: got a RegExp, expected the name of a property'],
  [{ validation: true }, 'validation: got true, expected an object'],
  [{ codec: 'msgpack' }, 'codec: got "msgpack", expected a codec: { id, encode(payload), decode(stored) }'],
  [{ codec: { encode() {}, decode() {} } }, 'codec: id: got undefined, expected 1 to 64'],
  [{ codecs: [{ id: 'aes', encode() {} }] }, 'codecs: [0]: decode: got undefined, expected a function'],
  [{ queues: [] }, 'queues: got an array of 0, expected an object'],
  [{ queues: { 'a b': {} } }, 'queues: got "a b", expected 1 to 64'],
  [{ queues: { default: 5 } }, `queues['default']: got 5, expected an object of options`],
  [
    { queues: { default: { concurrency: 0 } } },
    `queues['default']: concurrency: got 0, expected a whole number from 1 to 1000`,
  ],
  [{ queues: { default: { leaseMs: 10 } } }, `queues['default']: leaseMs: got 10, expected at least 1000 ms`],
  [
    { queues: { default: { keepDead: -1 } } },
    `queues['default']: keepDead: got -1, expected a whole number of at least 0`,
  ],
  [{ jobs: { 'a\nb': {} } }, 'jobs: got "a\\nb", expected 1 to 128 printable characters'],
  [{ jobs: { mail: { maxAttempts: 0 } } }, `jobs['mail']: maxAttempts: got 0, expected a whole number from 1 to 1000`],
  [{ jobs: { mail: { queue: 'other' } } }, `jobs['mail']: queue cannot be changed from configuration`],
  [{ name: 'a b' }, 'name: got "a b", expected 1 to 64'],
  [{ isGlobal: 'no' }, 'isGlobal: got "no", expected true or false'],
  [{ connection: 5 }, 'connection: got 5, expected a URL'],
  [{ connection: '' }, 'connection: got "", expected a URL that begins with redis://'],
  [{ connection: 'localhost:6379' }, 'connection: got "localhost:6379", expected a URL that begins with redis://'],
  [{ connection: { cluster: { nodes: [] } } }, 'connection: cluster: got an object, expected { nodes:'],
])('refuses %j and says what is expected instead', async (options, message) => {
  const refused = (async () => refusal(options))();
  expect((await refused.catch((thrown) => thrown)).message).toContain(message);
});

it.each([[undefined], [null]])(
  'takes a connection of %s for a missing variable, not for localhost',
  async (connection) => {
    const compiled = Test.createTestingModule({
      imports: [RedisScheduledQueueModule.forRootAsync({ useFactory: () => ({ connection }) as never })],
    }).compile();
    await expect(compiled).rejects.toThrow(InvalidOptionsError);
    await expect(compiled).rejects.toThrow(`connection: got ${connection}, expected a URL`);
  },
);

it('takes a factory that returns nothing for a forgotten return, not for localhost', async () => {
  const compiled = Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRootAsync({ useFactory: (() => undefined) as never })],
  }).compile();
  await expect(compiled).rejects.toThrow(InvalidOptionsError);
  await expect(compiled).rejects.toThrow('RedisScheduledQueueModule: got undefined, expected an object of options');
});

it('refuses a misspelt useFactory with the nearest known name', () => {
  const misspelt = { useFactry: () => ({}) } as never;
  expect(() => RedisScheduledQueueModule.forRootAsync(misspelt)).toThrow(
    `unknown option "useFactry", did you mean 'useFactory'?`,
  );
  expect(() => RedisScheduledQueueModule.forRootAsync({ inject: [] } as never)).toThrow(
    'expected useFactory, useClass or useExisting',
  );
});

describe('a connection that it refuses at start is refused without its password:', () => {
  const SECRET = 'hunter2';
  const expected = /expected (a URL that begins with redis:|redis:..user:password@host|\{ nodes:)/;

  it.each<[string, (secret: string) => unknown]>([
    ['a scheme that is not ours', (secret) => `http://:${secret}@host`],
    ['the same, a password with a slash', (secret) => `tcp://:a/${secret}/b@host`],
    ['the same, a password with a colon', (secret) => `tcp://:a:${secret}:b@host`],
    ['the same, a password with an at', (secret) => `tcp://:a@${secret}@b@host`],
    ['the same, the password in the query', (secret) => `tcp://host?password=${secret}`],
    ['the same, and no host', (secret) => `tcp://:a@${secret}`],
    ['the password alone', (secret) => secret],
    ['no scheme', (secret) => `default:${secret}@host:6379`],
    ['a port that there is not', (secret) => `redis://:${secret}@host:99999`],
    ['a host that there is not', (secret) => `redis://:${secret}@[host`],
    ['no host behind the password', (secret) => `redis://:${secret}@`],
    ['a slash in the password', (secret) => `redis://:a/${secret}@host`],
    ['a hash sign in the password', (secret) => `rediss://user:a#${secret}@host`],
    ['a hash sign in a password without a user', (secret) => `redis://${secret}#a@host`],
    ['a slash behind digits of the password', (secret) => `redis://user:12/${secret}@host`],
    ['a question mark behind digits of the password', (secret) => `redis://user:12?${secret}@host`],
    ['a question mark in the password', (secret) => `redis://:a?${secret}@host`],
    ['a broken escape in the password', (secret) => `redis://:${secret}%zz@host`],
    ['a URL as the cluster', (secret) => ({ cluster: `redis://:${secret}@host` })],
    ['URLs as the cluster', (secret) => ({ cluster: [`redis://:${secret}@host`] })],
    ['a node that cannot be read', (secret) => ({ cluster: { nodes: ['redis://a:1', `redis://:${secret}@b:99999`] } })],
  ])('%s', async (_, connection) => {
    const error = await refusal({ connection: connection(SECRET) });
    expect(error.message).toMatch(expected);
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(SECRET);
    expect((error as Error).cause).toBeUndefined();
  });
});

it.each([
  ['redis://host?keyPrefix=app:', `got keyPrefix in the URL's query`],
  ['redis://host?maxRetriesPerRequest=5', `got maxRetriesPerRequest in the URL's query`],
  [{ hots: 'x' }, 'without host, port, path or sentinels (hots)'],
  [{ url: 'redis://host' }, 'A URL is given as it is'],
])('refuses the connection %j, which would mean something else than it says', async (connection, sentence) => {
  const { message } = await refusal({ connection });
  expect(message).toContain(sentence);
});

it.each([
  ['options', () => ({ host: 'x', keyPrefix: 'app:' })],
  [
    'a cluster',
    () => ({ cluster: { nodes: [{ host: 'x', port: 1 }], options: { redisOptions: { keyPrefix: 'app:' } } } }),
  ],
  ['a ready client', () => new Redis({ lazyConnect: true, keyPrefix: 'app:' })],
])('refuses a keyPrefix of %s, which scripts would not see, and names prefix instead', async (_, connection) => {
  const { message } = await refusal({ connection: connection() });
  expect(message).toContain(`got keyPrefix 'app:'`);
  expect(message).toContain("use the module's option prefix");
});

it.each([
  [
    () => defineScheduledJob('mail', { maxAttemps: 3 } as never),
    `defineScheduledJob('mail'): unknown option "maxAttemps", did you mean 'maxAttempts'?`,
  ],
  [
    () => defineScheduledJob('mail', { queue: 'a b' }),
    `defineScheduledJob('mail'): queue: got "a b", expected 1 to 64`,
  ],
  [
    () => defineScheduledJob('mail', { payload: {} as never }),
    `defineScheduledJob('mail'): payload: got an object, expected a class`,
  ],
  [
    () => defineScheduledJob('mail', { priority: 0 }),
    `defineScheduledJob('mail'): priority: got 0, expected a whole number from 1 to 1000`,
  ],
  [() => defineScheduledJob(''), 'defineScheduledJob: name: got "", expected 1 to 128 printable characters'],
  [
    () => OnScheduledJob('mail', { quue: 'x' } as never),
    `@OnScheduledJob('mail'): unknown option "quue", did you mean 'queue'?`,
  ],
  [
    () => OnScheduledJob('mail', { onLate: 'discard' } as never),
    `@OnScheduledJob('mail'): unknown option "onLate": give it to the definition or the call.`,
  ],
  [() => OnScheduledJob(null as never), '@OnScheduledJob: job: got null, expected 1 to 128 printable characters'],
  [
    () => {
      // As a definition is that a circle of imports hands over.
      class Reminders {
        @OnScheduledJob(undefined as never)
        send(): void {}
      }
      return Reminders;
    },
    '@OnScheduledJob on Reminders.send: job: got undefined, expected a definition or a name. Is this file imported in a circle with the one that defines the job? Put definitions into a file of their own.',
  ],
  [
    () => OnScheduledJob('mail', { backoff: { type: 'linear', delayMs: 1 } as never }),
    `@OnScheduledJob('mail'): backoff: type: got "linear", expected 'fixed' or 'exponential'`,
  ],
])('refuses a definition or handler that cannot be used while the file loads: %s', (define, message) => {
  expect(define).toThrow(InvalidOptionsError);
  expect(define).toThrow(message);
});

it.each([
  [{ wrok: { maxAttempts: 2 } }, [`handles; did you mean 'work'? Where it is only popped, nothing is wrong.`]],
  [{ export: { weight: 2, maxAttempts: 2 } }, ['handles, and what it says of weight holds for handlers only.']],
  // Whoever pops needs no handler, and these hold for pops.
  [{ export: { maxAttempts: 2, backoff: { type: 'fixed' as const, delayMs: 1 } }, work: { weight: 2 } }, []],
])('jobs: %j is warned about where it is most likely misspelt', async (jobs, ends) => {
  class Handlers {
    @OnScheduledJob('work')
    work(): void {}
  }
  const log = new LogLines();
  await startApp([Handlers], { jobs }, { log });
  const beginning = `warn The option jobs names '${Object.keys(jobs)[0]}', which no handler of this process `;
  expect(log.lines).toEqual(ends.map((end) => beginning + end));
});

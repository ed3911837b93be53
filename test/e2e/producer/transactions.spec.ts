import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  defineScheduledJob,
  InvalidPayloadError,
  InvalidScheduleError,
  QueueClosedError,
  QueueUnavailableError,
  relayKey,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { audit } from '../../support/audit.js';
import { type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { seededRandom } from '../../support/random.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { stopTestedApps, testedApp } from '../../support/tested-app.js';
import { BEFORE_NEXT_LOOK_MS, until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const work = defineScheduledJob<{ n: number }>('work', { tags: ['defined'], priority: 2 });

let redis: Redis;

beforeEach(() => {
  redis = new Redis(redisUrl());
});

afterEach(async () => {
  await Promise.all([stopApps(), stopTestedApps()]);
  redis.disconnect();
});

/** The caller's own key, in the slot of the queue. */
const counterOf = ({ prefix }: QueueApp) => relayKey('default', `counter:${prefix}`);

describe('a job in a MULTI', () => {
  it('is there with the own commands once EXEC has run, and not before', async () => {
    const app = await startApp([], { role: 'producer' });
    const multi = redis.multi().incr(counterOf(app));
    const ref = await app.producer.in(multi).schedule(work, { n: 1 }, { delay: '1h' });
    expect(ref).toEqual({ id: expect.stringMatching(/^[0-9a-z]{18}$/), queue: 'default', name: 'work' });
    expect(await app.inspector.job(ref)).toBeNull();
    await sleep(50);
    const [seconds, micros] = (await redis.time()).map(Number);
    expect((await multi.exec())!.map(([error]) => error)).toEqual([null, null]);
    const job = await app.inspector.job(ref);
    expect(job).toMatchObject({ name: 'work', payload: { n: 1 }, tags: ['defined'], priority: 2, state: 'scheduled' });
    // The delay counts from EXEC, by the clock of Redis.
    expect(job!.dueAt!.getTime()).toBeGreaterThanOrEqual(seconds! * 1_000 + Math.floor(micros! / 1_000) + 3_600_000);
    expect(await redis.getdel(counterOf(app))).toBe('1');
    expect(await audit(redis, app.prefix)).toEqual([]);
  });

  it.each<[string, (multi: ReturnType<Redis['multi']>) => unknown]>([
    ['that is never executed', () => {}],
    ['that is discarded', (multi) => expect(multi.discard().exec()).rejects.toThrow('EXEC without MULTI')],
    [
      'whose WATCH is lost',
      async (multi) => {
        expect(await multi.exec()).toBeNull();
      },
    ],
  ])('%s leaves nothing', async (kind, end) => {
    const app = await startApp([], { role: 'producer' });
    const key = counterOf(app);
    if (kind.includes('WATCH')) await redis.watch(key);
    const multi = redis.multi().incr(key);
    await app.producer.in(multi).dispatch(work, { n: 1 });
    if (kind.includes('WATCH')) {
      const other = redis.duplicate();
      await other.set(key, 5);
      await other.quit();
    }
    await end(multi);
    expect(await app.inspector.counts()).toMatchObject({ due: 0, scheduled: 0 });
    await redis.del(key);
  });

  it('leaves no key but those of the job', async () => {
    const app = await startApp([], { role: 'producer' });
    const keys = async () => (await redis.keys(`${app.prefix}:{default}:*`)).map((key) => key.split(':{default}:')[1]);
    const multi = redis.multi();
    await app.producer.in(multi).schedule('work', 1, { delay: '1h' });
    await multi.exec();
    // `stats` holds the number of the data's form besides.
    expect((await keys()).sort()).toEqual(['heads:5', 'jobs', 'lane:5::work', 'levels', 'stats']);
  });

  it('wakes a worker that sleeps', async () => {
    const app = await startApp([Work], { queues: { default: { maxSleepMs: 600_000, leaseMs: 1_800_000 } } });
    await app.producer.dispatch('work', 0);
    await until('it has run, and the worker sleeps', async () => {
      const sleepers = await redis.keys(`${app.prefix}:{default}:sleepers:*`);
      return app.get(Work).ended.length === 1 && sleepers.length === 1 && (await redis.zcard(sleepers[0]!)) === 1;
    });
    const multi = redis.multi();
    await app.producer.in(multi).dispatch('work', 1);
    await multi.exec();
    await until('it is woken', () => app.get(Work).ended.length === 2, BEFORE_NEXT_LOOK_MS);
  });

  it('under a known id changes nothing, while that job waits and after it has ended', async () => {
    const app = await startApp([Work]);
    const append = async (name: string, n: number, id?: string) => {
      const multi = redis.multi();
      const ref = await app.producer.in(multi).schedule(name, n, { id, delay: '1h' });
      await multi.exec();
      return ref;
    };
    await append('work', 1, 'a');
    await append('work', 2, 'a');
    await append('other', 3, 'a');
    expect(await app.inspector.job('a')).toMatchObject({ name: 'work', payload: 1 });
    await app.producer.runNow('a');
    await until('it has ended', async () => (await app.inspector.job('a')) === null);
    await append('work', 4, 'a');
    expect(app.get(Work).runs).toHaveLength(1);
    expect(await app.inspector.job('a')).toBeNull();
    expect(await audit(redis, app.prefix)).toEqual([]);
  });

  it('with a made id is one job where the MULTI is sent twice, also after it has run', async () => {
    const app = await startApp([Work]);
    const multi = redis.multi();
    const ref = await app.producer.in(multi).dispatch('work', 1);
    const [, command] = (multi as unknown as { _queue: { name: string; args: string[] }[] })._queue;
    const args = [...command!.args];
    await multi.exec();
    await until(
      'it has ended',
      async () => app.get(Work).ended.length === 1 && (await app.inspector.job(ref)) === null,
    );
    // As ioredis does where the answer was lost.
    expect(await redis.call(command!.name, ...args)).toBe('e');
    expect(await app.inspector.job(ref)).toBeNull();
  });

  it('shows its payload in no error of exec()', async () => {
    const app = await startApp([], { role: 'producer' });
    const multi = redis.multi();
    await app.producer.in(multi).schedule('work', 'hunter2', { delay: '1h' });
    // A command that Redis refuses, so that EXEC is refused as a whole.
    multi.call('NO-SUCH-COMMAND');
    const error = await multi.exec().catch((cause) => cause);
    expect(error.message).toContain('EXECABORT');
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2');
    expect(inspect((multi as unknown as { _queue: unknown })._queue, { depth: 10 })).not.toContain('hunter2');
  });

  it('is told by no event, and has its place in the directory of queues', async () => {
    const app = await startApp([], { role: 'producer' });
    const told: ScheduledQueueEvent[] = [];
    app.events.events$.subscribe((event) => told.push(event));
    const multi = redis.multi();
    await app.producer.in(multi).schedule('work', 1, { delay: '1h' });
    await multi.exec();
    await until('the queue is known', async () =>
      (await app.inspector.queues()).some(({ name }) => name === 'default'),
    );
    expect(told).toEqual([]);
  });

  it('is there after SCRIPT FLUSH, as its source goes along', async () => {
    const own = await startOwnServer();
    const client = new Redis(own.url);
    try {
      const { producer, inspector } = await startApp([], { connection: own.url, role: 'producer' });
      const multi = client.multi();
      const ref = await producer.in(multi).schedule('work', 1, { delay: '1h' });
      await client.script('FLUSH');
      await multi.exec();
      expect(await inspector.job(ref)).toMatchObject({ payload: 1 });
    } finally {
      await stopApps();
      client.disconnect();
      await own.stop();
    }
  });
});

describe('what is refused appends nothing', () => {
  it('a job that schedule would refuse, and one that replaces', async () => {
    const { producer } = await startApp([], { role: 'producer' });
    const multi = redis.multi();
    const transaction = producer.in(multi);
    await expect(transaction.schedule('work', undefined as never)).rejects.toThrow(InvalidPayloadError);
    await expect(transaction.schedule('work', 1, { delay: 'soon' as never })).rejects.toThrow(InvalidScheduleError);
    await expect(transaction.dispatch('work', 1, { delay: 5 } as never)).rejects.toThrow('dispatch: got at or delay');
    const replacing = transaction.schedule('work', 1, { id: 'a', onDuplicate: 'replace' });
    await expect(replacing).rejects.toThrow("schedule('work'): onDuplicate: got 'replace', expected 'keep'");
    await producer.upsertRecurrence('nightly', 'work', 1, { everyMs: '1h' });
    await expect(transaction.schedule('work', 1, { id: 'nightly@1893456000000' })).rejects.toThrow('an occurrence');
    expect(multi.length).toBe(1);
  });

  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, 'in: got undefined, expected what redis.multi() of an ioredis client answers'],
    ['a client', () => redis, 'expected what redis.multi() of an ioredis client answers'],
    [
      'a MULTI without a pipeline',
      () => redis.multi({ pipeline: false }),
      'in: got a Promise, expected what redis.multi()',
    ],
    ['a pipeline', () => redis.pipeline(), 'in: got a pipeline, expected what redis.multi() answers'],
    ['a discarded one', () => redis.multi().discard(), 'in: got a MULTI with DISCARD in it'],
    ['one that goes elsewhere', () => redis.multi().call('select', '3'), 'in: got a MULTI with SELECT in it'],
    [
      'one of a client with a prefix',
      () => new Redis(redisUrl(), { lazyConnect: true, keyPrefix: 'my:' }).multi(),
      'keyPrefix "my:"',
    ],
    [
      'one of another database',
      () => new Redis(redisUrl(), { lazyConnect: true, db: 3 }).multi(),
      'in database 3, expected one in database 0',
    ],
  ])('%s', async (_, make, message) => {
    const { producer } = await startApp([], { role: 'producer' });
    const given = make() as object;
    // A MULTI without a pipeline is a promise, which fails as the connection is closed.
    if (given instanceof Promise) await given;
    expect(() => producer.in(given)).toThrow(InvalidScheduleError);
    expect(() => producer.in(given)).toThrow(message);
  });

  it('one whose client has selected another database meanwhile, and one whose exec() has been called', async () => {
    const { producer } = await startApp([], { role: 'producer' });
    const elsewhere = redis.multi();
    const early = producer.in(elsewhere);
    await redis.select(3);
    await expect(early.schedule('work', 1)).rejects.toThrow('in database 3');
    await redis.select(0);
    const multi = redis.multi().ping();
    const late = producer.in(multi);
    await multi.exec();
    await expect(late.schedule('work', 1)).rejects.toThrow('exec() of this MULTI has been called');
    expect(() => producer.in(multi)).toThrow('exec() of this MULTI has been called');
  });

  it('anything in the test kit, which has no Redis', async () => {
    const { producer } = await testedApp();
    expect(() => producer.in(redis.multi())).toThrow(InvalidScheduleError);
    expect(() => producer.in(redis.multi())).toThrow('the test kit has no Redis');
  });
});

it('after shutdown, and in each queue of another schema, a job is refused as by schedule', async () => {
  const { producer, prefix, app } = await startApp([], { role: 'producer' });
  await redis.hset(`${prefix}:{newer}:stats`, 'schema', '99');
  const multi = redis.multi();
  const transaction = producer.in(multi);
  await transaction.schedule('work', 1);
  await expect(transaction.schedule('work', 1, { queue: 'newer' })).rejects.toMatchObject({ redisCode: 'SCHEMA' });
  await app.close();
  await expect(transaction.schedule('work', 1)).rejects.toThrow(QueueClosedError);
  expect(multi.length).toBe(2);
});

it('a full memory is no proof that scripts are refused', async () => {
  const own = await startOwnServer('--maxmemory-policy', 'noeviction');
  const client = new Redis(own.url);
  try {
    const { producer, inspector } = await startApp([], {
      connection: own.url,
      role: 'producer',
      commandTimeoutMs: 1_000,
    });
    await inspector.counts();
    await client.config('SET', 'maxmemory', '1');
    // Redis 7.0 refuses a script in a MULTI as it arrives; Redis 8.0 and Valkey 8.1 take it, and refuse at EXEC what needs memory.
    const refused = await client
      .multi()
      .eval('return 1', 0)
      .exec()
      .then(
        () => false,
        () => true,
      );
    const full = client.multi();
    const appended = await producer
      .in(full)
      .schedule('work', 1)
      .catch((error: unknown) => error);
    expect(appended).toMatchObject(refused ? { redisCode: 'OOM' } : { name: 'work' });
    if (!refused) expect(String((await full.exec())![0]![0])).toContain('OOM');
    await client.config('SET', 'maxmemory', '0');
    const multi = client.multi();
    await producer.in(multi).schedule('work', 1);
    expect((await multi.exec())!.map(([error]) => error)).toEqual([null]);
  } finally {
    await stopApps();
    client.disconnect();
    await own.stop();
  }
});

describe('behind a proxy', () => {
  let server: OwnRedisServer;
  let proxy: TcpProxy;

  beforeAll(async () => {
    server = await startOwnServer();
  });
  beforeEach(async () => {
    proxy = await TcpProxy.start(server.url);
  });
  afterEach(async () => {
    await stopApps();
    await proxy.stop();
  });
  afterAll(() => server.stop());

  it('a server that runs no scripts inside of MULTI is told, with the way by prepare', async () => {
    // As such a server answers; each text is as long as that of Redis.
    proxy.rewrite((reply) => reply.replace('+QUEUED\r\n*1\r\n:1\r\n', '-ERR no\r\n-EXABR\r\n'));
    const { producer } = await startApp([], { connection: proxy.url, role: 'producer' });
    const multi = redis.multi();
    const transaction = producer.in(multi);
    await expect(transaction.schedule('work', 1)).rejects.toThrow(InvalidScheduleError);
    await expect(transaction.schedule('work', 1)).rejects.toThrow(
      /refuses scripts inside of MULTI \(ERR no\).*prepare/,
    );
    expect(multi.length).toBe(1);
    await producer.schedulePrepared(await producer.prepare('work', 1));
  });

  it('Redis is asked again where it could not be asked', async () => {
    proxy.refuse();
    const { producer } = await startApp([], { connection: proxy.url, role: 'producer', commandTimeoutMs: 300 });
    const multi = redis.multi();
    await expect(producer.in(multi).schedule('work', 1)).rejects.toThrow(QueueUnavailableError);
    proxy.accept();
    await until('it is asked', () =>
      producer
        .in(multi)
        .schedule('work', 1)
        .catch(() => undefined),
    );
    expect(multi.length).toBe(2);
  });

  it('a thousand MULTIs, abandoned, watched, flushed and cut: as many jobs as the counter says', async () => {
    const random = seededRandom(45);
    const app = await startApp([], { connection: server.url, role: 'producer' });
    const key = counterOf(app);
    const direct = new Redis(server.url);
    const client = new Redis(proxy.url, {
      autoResendUnfulfilledCommands: false,
      retryStrategy: () => 1,
      maxRetriesPerRequest: null,
    });
    client.on('error', () => {});
    let executed = 0;
    let refused = 0;
    let unknown = 0;
    for (let n = 0; n < 1_000; n++) {
      const kind = random();
      const isWatched = kind < 0.1;
      if (isWatched) await client.watch(`${key}:watched`).catch(() => {});
      const multi = client.multi().incr(key);
      await app.producer.in(multi).schedule('work', n, { delay: '1h' });
      if (isWatched) await direct.set(`${key}:watched`, n);
      else if (kind < 0.2) continue;
      else if (kind < 0.3) await direct.script('FLUSH');
      const executing = multi.exec().catch(() => undefined);
      let isBack: Promise<unknown> | undefined;
      if (kind > 0.9 && n < 900) {
        isBack = new Promise((resolve) => client.once('ready', resolve));
        // Before it is sent, on its way, or done.
        if (kind > 0.93) await (kind > 0.96 ? setImmediate() : sleep(1));
        proxy.cut();
      }
      // After some disconnects ioredis settles a call never.
      const answer = await (isBack ? Promise.race([executing, isBack.then(() => undefined)]) : executing);
      await isBack;
      if (answer) executed++;
      else if (answer === null) refused++;
      else unknown++;
    }
    const counter = Number(await direct.get(key));
    expect((await app.inspector.counts()).scheduled).toBe(counter);
    // Neither none nor all: each way out was taken.
    expect(executed).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(50);
    expect(unknown).toBeGreaterThan(5);
    expect(counter).toBeGreaterThanOrEqual(executed);
    expect(counter).toBeLessThanOrEqual(executed + unknown);
    expect(await audit(direct, app.prefix)).toEqual([]);
    client.disconnect();
    direct.disconnect();
  });
});

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { defineScheduledJob, OnScheduledJob, RedisScheduledQueueModule } from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { type OwnRedisServer, startOwnServer } from '../../support/redis-server.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

const SECRET = 'correct-horse';

let proxy: TcpProxy | undefined;
let server: OwnRedisServer | undefined;
const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await stopApps();
  for (const each of closing.splice(0)) await each.close();
  await proxy?.stop();
  await server?.stop();
  proxy = server = undefined;
});

interface Mute {
  port: number;
  sockets: Set<Socket>;
  close(): Promise<void>;
}

/** Takes connections and never says a word. */
async function startMute(): Promise<Mute> {
  const mute = await muteListener();
  closing.push(mute);
  return mute;
}

async function muteListener(): Promise<Mute> {
  const sockets = new Set<Socket>();
  const listener: Server = createServer((socket) => {
    sockets.add(socket);
    // Else it would not notice that the other side ends it.
    socket.resume();
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as { port: number }).port,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

const connectedTo = (url: string) => `${url.replace(/\/$/, '')}${new URL(url).pathname.length > 1 ? '' : '/0'}`;

describe('at start the log says', () => {
  class Handlers {
    @OnScheduledJob('mail.send', { concurrency: 2, timeoutMs: '30s' })
    send(): void {}
    @OnScheduledJob('export', { queue: 'exports', weight: 3, timeoutMs: 0 })
    export(): void {}
    @OnScheduledJob(defineScheduledJob('plain'))
    plain(): void {}
  }

  it('where Redis is, with prefix and role, once, and never a password', async () => {
    server = await startOwnServer('--requirepass', SECRET);
    const log = new LogLines();
    const connection = server.url.replace('redis://', `redis://:${SECRET}@`);
    const { producer, prefix } = await startApp([Work], { connection: `${connection}/3` }, { log });
    await until('it is connected', () => log.atStart.some((line) => line.includes('Connected')));
    await producer.schedule('work', 1);
    const { port } = server;
    expect(log.atStart.filter((line) => line.includes('Connected'))).toEqual([
      `log Connected to redis://127.0.0.1:${port}/3 (prefix '${prefix}', role 'both').`,
    ]);
    expect([...log.atStart, ...log.lines].join()).not.toContain(SECRET);
  });

  it.each(['both', 'producer', 'worker'] as const)('so for a client that was given, in the role %s', async (role) => {
    const client = new Redis(redisUrl(), { lazyConnect: true });
    const log = new LogLines();
    const { prefix } = await startApp([], { connection: client, role, autoStart: false }, { log });
    await until('it is connected', () => log.atStart.some((line) => line.includes('Connected')));
    expect(client.status).toBe('wait');
    const begins = role === 'producer' ? '' : ', autoStart false';
    expect(log.atStart).toContain(
      `log Connected to ${connectedTo(redisUrl())} (prefix '${prefix}', role '${role}'${begins}).`,
    );
  });

  it('what each handler handles, and its limits', async () => {
    const log = new LogLines();
    const queues = { exports: { concurrency: 5, globalConcurrency: 20, rateLimit: { max: 5, perMs: '1s' } } } as const;
    await startApp([Handlers], { queues }, { log });
    expect(log.atStart.filter((line) => line.startsWith('log Mapped'))).toEqual([
      'log Mapped {mail.send, queue default} to Handlers.send (RootTestModule) (concurrency 2 of 10, timeoutMs 30000)',
      'log Mapped {plain, queue default} to Handlers.plain (RootTestModule) (concurrency 10)',
      'log Mapped {export, queue exports} to Handlers.export (RootTestModule) (concurrency 5, weight 3, globalConcurrency 20, rateLimit 5 in 1 s, no timeout)',
    ]);
  });

  it('when a declared recurrence fires, in its own zone', async () => {
    class Reports {
      @OnScheduledJob('report.nightly', { cron: '30 2 * * *', timeZone: 'Asia/Kolkata' })
      nightly(): void {}
      @OnScheduledJob('sync', { cron: '0 4 1 1 *', recurrenceId: 'yearly' })
      @OnScheduledJob('sync', { everyMs: '15m', offsetMs: '5m', recurrenceId: 'often' })
      sync(): void {}
      @OnScheduledJob('off', { cron: '@daily' })
      off(): void {}
    }
    const log = new LogLines();
    await startApp([Reports], { jobs: { off: { recurrence: false } } }, { log });
    const lines = log.atStart
      .filter((line) => line.startsWith('log Mapped'))
      .map((line) => line.split(' (concurrency 10), ')[1]);
    expect(lines).toEqual([
      expect.stringMatching(/^cron '30 2 \* \* \*' Asia\/Kolkata, next \d{4}-\d\d-\d\dT02:30\+05:30$/),
      expect.stringMatching(
        /^recurrence 'often': everyMs 900000, offsetMs 300000, next \S+:(?:05|20|35|50)Z, recurrence 'yearly': cron '0 4 1 1 \*' UTC, next \d{4}-01-01T04:00Z$/,
      ),
      'recurrence switched off by the option jobs',
    ]);
  });

  describe('which queues have options and no definition or handler', () => {
    const warned = async (
      providers: Parameters<typeof startApp>[0],
      queues: Record<string, object>,
      role: 'both' | 'producer' = 'both',
    ) => {
      const log = new LogLines();
      await startApp(providers, { queues, role }, { log });
      return log.atStart.filter((line) => line.includes('The option queues'));
    };

    it.each(['both', 'producer'] as const)('with the nearest name, in the role %s', async (role) => {
      expect(await warned([Handlers], { exprots: {}, exports: {}, defualt: {}, archive: {} }, role)).toEqual([
        `warn The option queues has options for 'exprots' (did you mean 'exports'?), 'defualt' (did you mean 'default'?), 'archive', which no handler and no definition of this process names, so they may hold for no job. Nothing is wrong where this process only names the queue in its calls, or shares its options with other processes.`,
      ]);
    });

    it('and not those of handlers and definitions, nor the default one', async () => {
      defineScheduledJob('invoice.send', { queue: 'invoices-at-start' });
      expect(await warned([Handlers], { exports: {}, default: {}, 'invoices-at-start': {} })).toEqual([]);
    });
  });

  it('which times look like seconds', async () => {
    class Slow {
      @OnScheduledJob('slow', { timeoutMs: 30 })
      run(): void {}
      @OnScheduledJob('unlimited', { timeoutMs: 0 })
      go(): void {}
      @OnScheduledJob('short', { timeoutMs: 100 })
      stop(): void {}
    }
    const warned = async (shutdownTimeoutMs: number) => {
      const log = new LogLines();
      await startApp([Slow], { shutdownTimeoutMs }, { log });
      return log.atStart.filter((line) => line.includes('milliseconds'));
    };
    const timeout =
      "warn The timeoutMs of job 'slow' (Slow.run (RootTestModule)) is 30 milliseconds. Write '30s' where seconds are meant.";
    expect(await warned(20)).toEqual([
      "warn The option shutdownTimeoutMs is 20 milliseconds. Write '20s' where seconds are meant.",
      timeout,
    ]);
    expect(await warned(0)).toEqual([timeout]);
  });

  it('how many jobs a handler gets in a call, and where a limit lets it never get so many', async () => {
    class Rows {
      @OnScheduledJob('insert', { batch: { size: 100, waitMs: '400ms' } })
      insert(): void {}
      @OnScheduledJob('index', { batch: { size: 50 }, concurrency: 2, queue: 'index' })
      index(): void {}
    }
    const log = new LogLines();
    const queues = { default: { globalConcurrency: 100 }, index: { globalConcurrency: 49 } };
    await startApp([Rows], { queues, jobs: { insert: { batch: { size: 101 } } } }, { log });
    expect(log.atStart.filter((line) => line.startsWith('log Mapped'))).toEqual([
      'log Mapped {insert, queue default} to Rows.insert (RootTestModule) (concurrency 10, up to 101 jobs a call, waitMs 400, globalConcurrency 100)',
      'log Mapped {index, queue index} to Rows.index (RootTestModule) (concurrency 2 of 10, up to 50 jobs a call, globalConcurrency 49)',
    ]);
    expect(log.lines).toEqual([
      "warn The batch.size of job 'insert' (Rows.insert (RootTestModule)) is 101, and no call gets more than 100 jobs: globalConcurrency of queue 'default' counts jobs. Raise it, or lower the size.",
      "warn The batch.size of job 'index' (Rows.index (RootTestModule)) is 50, and no call gets more than 49 jobs: globalConcurrency of queue 'index' counts jobs. Raise it, or lower the size.",
    ]);
  });

  it('that no handler was found', async () => {
    const log = new LogLines();
    await startApp([], {}, { log });
    expect(log.atStart).toContain(
      `log No method with @OnScheduledJob was found in the providers and controllers of this application, so this process runs no jobs (role 'both').`,
    );
    const ofProducer = new LogLines();
    await startApp([Handlers], { role: 'producer' }, { log: ofProducer });
    expect(ofProducer.atStart.filter((line) => !line.includes('Connected'))).toEqual([]);
  });

  it('of which instance of the module it speaks', async () => {
    class Both {
      @OnScheduledJob('one')
      one(): void {}
      @OnScheduledJob('two', { instance: 'billing' })
      two(): void {}
    }
    const options = { connection: redisUrl(), prefix: newPrefix() };
    @Module({
      imports: [
        RedisScheduledQueueModule.forRoot(options),
        RedisScheduledQueueModule.forRoot({ ...options, name: 'billing' }),
      ],
      providers: [Both],
    })
    class BothModule {}
    const log = new LogLines();
    const app = await Test.createTestingModule({ imports: [BothModule] })
      .setLogger(log)
      .compile();
    closing.push(app);
    await app.init();
    await until('both are connected', () => log.atStart.filter((line) => line.includes('Connected')).length === 2);
    const of = (part: string) => log.atStart.filter((line) => line.includes(part));
    expect(of(`instance 'billing'`)).toEqual(
      expect.arrayContaining([
        `log Mapped {two, queue default} to Both.two (BothModule) (instance 'billing', concurrency 10)`,
        `log Connected to ${connectedTo(redisUrl())} (instance 'billing', prefix '${options.prefix}', role 'both').`,
      ]),
    );
    expect(of(`instance 'billing'`)).toHaveLength(2);
    expect(of('Mapped {one')).toHaveLength(1);
  });

  it('what a relay moves, and where to', async () => {
    const log = new LogLines();
    const { consumer } = await startApp([], {}, { log });
    const key = newPrefix();
    const relay = consumer.relay({ names: ['a', 'b'], to: { stream: key } });
    await relay.stop();
    expect(log.atStart).toContain(`log Relays a, b of queue 'default' to the stream '${key}', up to 100 at a time.`);
  });
});

describe('a wrong address', () => {
  it.each(['both', 'producer', 'worker'] as const)('is in the log at start, in the role %s', async (role) => {
    const log = new LogLines();
    await startApp(
      [Work],
      { connection: `redis://:${SECRET}@127.0.0.1:1/2`, role, autoStart: role !== 'worker' },
      { log },
    );
    await until('it is told', () => log.lines.length > 0);
    expect(log.lines).toEqual([
      'warn Redis cannot be reached (connect ECONNREFUSED 127.0.0.1:1, at redis://127.0.0.1:1/2); trying again until it is back.',
    ]);
  });

  it('is in the log also where somebody takes the connection and never answers', async () => {
    const { port } = await startMute();
    const log = new LogLines();
    await startApp([], { connection: `redis://127.0.0.1:${port}`, commandTimeoutMs: 1_500 }, { log });
    await until('it is told', () => log.lines.length > 0);
    expect(log.lines).toEqual([expect.stringMatching(/^warn Redis cannot be reached \(no answer in time, at redis:/)]);
  });

  it('is in the error of a call, with its code, and a password is not', async () => {
    const connection = `redis://:${SECRET}@127.0.0.1:1/2`;
    const { producer, consumer, inspector } = await startApp([], { connection, commandTimeoutMs: 1_500 });
    const reason = 'connect ECONNREFUSED 127.0.0.1:1, at redis://127.0.0.1:1/2';
    const calls = [
      producer.schedule('work', 1),
      producer.scheduleMany([{ job: 'work', payload: 1 }]),
      producer.cancel('r7'),
      inspector.counts(),
      consumer.pop(),
    ];
    const errors = await Promise.all(
      calls.map((call) =>
        call.then(
          () => undefined,
          (thrown) => thrown,
        ),
      ),
    );
    for (const error of errors) {
      expect(error).toMatchObject({
        code: 'QUEUE_UNAVAILABLE',
        message: expect.stringContaining(reason),
        cause: { message: reason, code: 'ECONNREFUSED' },
      });
      expect(`${error.message} ${error.stack} ${error.cause.stack}`).not.toContain(SECRET);
    }
  });

  it('that the connection had is in the error of what is said of a popped job, too', async () => {
    proxy = await TcpProxy.start(redisUrl());
    const { producer, consumer } = await startApp([], { connection: proxy.url, commandTimeoutMs: 2_000 });
    await producer.schedule('pulled', 1);
    const [job] = await consumer.pop({ names: ['pulled'], waitMs: 5_000 });
    proxy.refuse();
    const error = await job!.complete().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'QUEUE_UNAVAILABLE', cause: { message: expect.stringContaining(proxy.url) } });
    expect(error.message).toContain(error.cause.message);
    proxy.accept();
  });

  it('is no longer the reason once Redis was there', async () => {
    proxy = await TcpProxy.start(redisUrl());
    proxy.refuse();
    const log = new LogLines();
    const { producer } = await startApp([], { connection: proxy.url, commandTimeoutMs: 300 }, { log });
    await until('it is told', () => log.lines.length > 0);
    proxy.accept();
    await until('it is back', () => log.lines.some((line) => line.startsWith('log Redis is back')));
    expect(log.atStart.filter((line) => line.includes('Connected'))).toHaveLength(1);
    await producer.schedule('work', 1);
    proxy.blackhole();
    await expect(producer.schedule('work', 1)).rejects.not.toHaveProperty('cause');
  });
});

/** ioredis lets nobody end what asks a sentinel: it goes on for half of `commandTimeoutMs`, and its goodbye takes up to 2 s more. */
const GONE_WITHIN_MS = { 'a server': 1_500, 'a cluster': 1_500, sentinels: 6_000 };

describe('an application that never uses Redis', () => {
  const WAYS: [keyof typeof GONE_WITHIN_MS, (port: number) => unknown][] = [
    ['a server', (port) => ({ host: '127.0.0.1', port })],
    ['a cluster', (port) => ({ cluster: { nodes: [{ host: '127.0.0.1', port }] } })],
    ['sentinels', (port) => ({ sentinels: [{ host: '127.0.0.1', port }], name: 'main' })],
  ];

  it.each(WAYS)('can be closed while it connects to %s, and no connection is left', async (name, connection) => {
    const mute = await startMute();
    const { app } = await startApp([], { connection: connection(mute.port) as never });
    await until('it connects', () => mute.sockets.size > 0);
    const from = performance.now();
    await app.close();
    expect(performance.now() - from).toBeLessThan(1_000);
    await until('the connections have ended', () => mute.sockets.size === 0, GONE_WITHIN_MS[name]);
    // The longest pause before a client tries again is 1.2 s.
    const endedAt = performance.now();
    await until('some time has passed', () => mute.sockets.size > 0 || performance.now() > endedAt + 1_500);
    expect(mute.sockets.size).toBe(0);
  });

  it.concurrent.each(
    WAYS.flatMap(([name, connection]) => [
      ['mute', name, connection, name === 'a server' ? 0 : 300] as const,
      ['refusing', name, connection, 300] as const,
    ]),
  )(
    'lets its process end when %s %s is still being connected to (%#)',
    async (kind, name, connection, closeAfterMs) => {
      // Beside other cases, whose end must not close it.
      const mute = await muteListener();
      const port = kind === 'mute' ? mute.port : 1;
      const child = fork('dist-test/starter.js', {
        env: {
          ...process.env,
          CONNECTION: JSON.stringify(connection(port)),
          CLOSE_AFTER_MS: String(closeAfterMs),
          NODE_OPTIONS: '',
        },
        execArgv: [],
      });
      try {
        await once(child, 'message');
        const closedAt = performance.now();
        if (child.exitCode === null) await once(child, 'exit');
        expect(performance.now() - closedAt).toBeLessThan(GONE_WITHIN_MS[name]);
        expect(child.exitCode).toBe(0);
      } finally {
        child.kill('SIGKILL');
        await mute.close();
      }
    },
  );
});

describe('a port that is none of Redis', () => {
  /** Why a call fails, at a server that answers so. */
  async function whyUnavailable(scheme: string, answer: string | undefined): Promise<string> {
    const listener = createServer((socket) => {
      socket.on('error', () => {}).on('data', () => (answer === undefined ? undefined : socket.end(answer)));
      closing.push({ close: async () => void socket.destroy() });
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as { port: number };
    const connection =
      scheme === 'redis' ? `redis://127.0.0.1:${port}` : { host: '127.0.0.1', port, tls: {}, connectTimeout: 500 };
    const { producer } = await startApp([], { connection, commandTimeoutMs: '2s' });
    const error = await producer.schedule('work', 1).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    listener.close();
    return error!.message;
  }

  it('but of HTTP is told as such', async () => {
    const message = await whyUnavailable('redis', 'HTTP/1.1 400 Bad Request\r\n\r\n');
    expect(message).toContain(
      'the server there does not speak the Redis protocol but HTTP; check the port, at redis://127.0.0.1:',
    );
    expect(message).not.toMatch(/RESP type|report this/);
  });

  it.each([
    ['waits for more', undefined],
    ['refuses the first message', '-ERR Protocol error\r\n'],
  ])('with TLS, where it speaks none and %s', async (_, answer) => {
    expect(await whyUnavailable('rediss', answer)).toContain('; does this port speak TLS?');
  });
});

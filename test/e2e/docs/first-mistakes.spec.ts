// The mistakes of a new user's first hour, and the lines that tell them.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable, type LoggerService, Module, type Type } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { IsEmail } from 'class-validator';
import {
  defineScheduledJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueConsumer,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { freePort, startOwnServer } from '../../support/redis-server.js';
import { until } from '../../support/wait.js';

class Reminder {
  @IsEmail()
  to!: string;
}
const sendReminder = defineScheduledJob('reminder.send', { payload: Reminder, maxAttempts: 1 });

@Injectable()
class Reminders {
  constructor(readonly producer: ScheduledQueueProducer) {}

  @OnScheduledJob(sendReminder)
  send(): void {}
}

@Injectable()
class Worker {
  @OnScheduledJob('work')
  work(): void {}
}

const apps: TestingModule[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

async function start(
  options: RedisScheduledQueueModuleOptions,
  providers: Type[] = [Reminders],
  log: LoggerService = new LogLines(),
): Promise<TestingModule> {
  @Module({ imports: [RedisScheduledQueueModule.forRoot({ prefix: newPrefix(), ...options })], providers })
  class AppModule {}
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(log)
    .compile();
  apps.push(app);
  return app.init();
}

it('a URL that is none stops the start', async () => {
  await expect(start({ connection: 'localhost:6379' })).rejects.toThrow(
    'connection: got "localhost:6379", expected a URL that begins with redis:// or rediss://',
  );
});

it('a variable of the environment that is not set stops the start', async () => {
  await expect(start({ connection: process.env.NO_SUCH_VARIABLE })).rejects.toThrow(
    'RedisScheduledQueueModule: connection: got undefined, expected a URL, options of ioredis, { cluster } or a client. Is an environment variable missing? Leave the option out for redis://localhost:6379.',
  );
});

it('a Redis that is down at start is told with its address, and the app starts', async () => {
  const log = new LogLines();
  const port = await freePort();
  await start({ connection: `redis://localhost:${port}` }, [Reminders], log);
  await until('it is told', () => log.lines.length > 0);
  expect(log.lines).toEqual([
    `warn Redis cannot be reached (connect ECONNREFUSED 127.0.0.1:${port}, at redis://localhost:${port}/0); trying again until it is back.`,
  ]);
});

it('a password that is wrong is told, and does not stand in the line', async () => {
  const log = new LogLines();
  const server = await startOwnServer('--requirepass', 'correct-horse');
  try {
    await start({ connection: `redis://:wrong-horse@127.0.0.1:${server.port}` }, [Reminders], log);
    await until('it is told', () => log.lines.length > 0);
    expect(log.lines).toEqual([
      `warn Redis cannot be reached (WRONGPASS invalid username-password pair or user is disabled., at redis://127.0.0.1:${server.port}/0); correct user, password and database in the option connection; trying again until it is back.`,
    ]);
  } finally {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    await server.stop();
  }
});

it('a misspelt option stops the start, with the name that was meant', async () => {
  await expect(start({ connection: redisUrl(), shutdownTimeout: 5 } as never)).rejects.toThrow(
    'RedisScheduledQueueModule: unknown option "shutdownTimeout", did you mean \'shutdownTimeoutMs\'?',
  );
});

it('a static handler is refused where it stands', () => {
  expect(() => {
    class Handlers {
      @OnScheduledJob('report')
      static make(): void {}
    }
    return Handlers;
  }).toThrow(
    "@OnScheduledJob('report') on Handlers.make: got a static method, which no provider has, expected a method of a provider or controller. Remove 'static'.",
  );
});

it('two handlers of one job stop the start, and both are named', async () => {
  @Injectable()
  class OtherReminders {
    @OnScheduledJob(sendReminder)
    send(): void {}
  }
  await expect(start({ connection: redisUrl() }, [Reminders, OtherReminders])).rejects.toThrow(
    "Job 'reminder.send' of queue 'default' has two handlers: Reminders.send (AppModule) and OtherReminders.send (AppModule). Remove one of them, or give one another name or queue.",
  );
});

it('a service without the module stops the start by the words of Nest, which name the producer', async () => {
  const compiled = Test.createTestingModule({ providers: [Reminders] })
    .setLogger(new LogLines())
    .compile();
  await expect(compiled).rejects.toThrow(
    "Nest can't resolve dependencies of the Reminders (?). Please make sure that the argument ScheduledQueueProducer at index [0] is available in the RootTestModule module.",
  );
});

it('handlers whose module nobody imports are missed at start, and explain says what their job waits for', async () => {
  const log = new LogLines();
  const app = await start({ connection: redisUrl() }, [], log);
  expect(log.atStart).toEqual([
    "log No method with @OnScheduledJob was found in the providers and controllers of this application, so this process runs no jobs (role 'both').",
  ]);
  const ref = await app.get(ScheduledQueueProducer).schedule(sendReminder, { to: 'ada@example.com' });
  expect(await app.get(ScheduledQueueInspector).explain(ref)).toEqual({
    code: 'no-handler',
    message: `Job 'reminder.send' (${ref.id}) of queue 'default' is due, but no worker that runs at present handles that name: it waits for one that does.`,
  });
});

it('a wrong payload is refused by the call, with what is wrong with it', async () => {
  const app = await start({ connection: redisUrl() });
  const scheduled = app.get(Reminders).producer.schedule(sendReminder, { to: 'ada' });
  await expect(scheduled).rejects.toThrow(
    "The payload of job 'reminder.send' does not fit Reminder: to: to must be an email.",
  );
});

it('a handler that throws a string is told with that string', async () => {
  @Injectable()
  class Thrower {
    @OnScheduledJob(sendReminder)
    send(): void {
      throw 'no mailbox';
    }
  }
  const log = new LogLines();
  const app = await start({ connection: redisUrl() }, [Thrower], log);
  const { id } = await app.get(ScheduledQueueProducer).dispatch(sendReminder, { to: 'ada@example.com' });
  await until('it is told', () => log.lines.length > 0);
  expect(log.lines).toEqual([
    `error Job 'reminder.send' (${id}) of queue 'default' is dead after attempt 1 (attempts-exhausted): no mailbox (not an Error, so there is no stack)`,
  ]);
});

it('a process that is stopped without shutdown hooks leaves its job to the lease, and the line of its return names the hooks', async () => {
  const prefix = newPrefix();
  const env = {
    ...process.env,
    REDIS: redisUrl(),
    PREFIX: prefix,
    WORK_MS: '60000',
    SHUTDOWN_TIMEOUT_MS: '20000',
    LEASE_MS: '1500',
    HOOKS: '',
    NODE_OPTIONS: '',
  };
  const child = fork('dist-test/drainer.js', { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const lines: string[] = [];
  child.on('message', (line) => lines.push(String(line)));
  try {
    await until('it is ready', () => lines.includes('ready'));
    const log = new LogLines();
    const queues = { default: { leaseMs: 1_500 } };
    const app = await start({ connection: redisUrl(), prefix, queues, autoStart: false }, [Worker], log);
    await app.get(ScheduledQueueProducer).dispatch('work', null);
    await until('it runs', () => lines.includes('running'));
    child.kill('SIGTERM');
    await once(child, 'exit');
    await app.get(ScheduledQueueConsumer).start();
    await until('the job comes back', () => log.lines.length > 0);
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^warn Recovered 1 job of queue 'default', whose lease ran out because worker '.+' died, was stopped without app\.enableShutdownHooks\(\), was blocked or was cut off from Redis: 'work' \(.+\)\.$/,
      ),
    ]);
  } finally {
    child.kill('SIGKILL');
  }
});

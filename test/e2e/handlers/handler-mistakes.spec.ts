import { afterEach, describe, expect, it } from '@jest/globals';
import { type DynamicModule, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DuplicateHandlerError,
  InvalidOptionsError,
  OnScheduledJob,
  RedisScheduledQueueModule,
  type RedisScheduledQueueModuleOptions,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// Handlers that would never run, and what says so.

afterEach(stopApps);

/** Puts the decorator there as compilers do that check no types. */
function decorate(target: unknown, key?: unknown, descriptor?: unknown): void {
  (OnScheduledJob('mail.send') as (...args: unknown[]) => void)(target, key, descriptor);
}

describe('@OnScheduledJob is refused as soon as it stands on', () => {
  const misplaced = (run: () => void): InvalidOptionsError => {
    try {
      run();
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidOptionsError);
      expect(error).toMatchObject({ code: 'INVALID_OPTIONS', jobName: 'mail.send' });
      return error as InvalidOptionsError;
    }
    throw new Error('Nothing was refused.');
  };

  it('a static method', () => {
    const error = misplaced(() => {
      class MailHandlers {
        @OnScheduledJob('mail.send')
        static send(): void {}
      }
      return MailHandlers;
    });
    expect(error.message).toBe(
      `@OnScheduledJob('mail.send') on MailHandlers.send: got a static method, which no provider has, expected a method of a provider or controller. Remove 'static'.`,
    );
  });

  it('an arrow function in a property', () => {
    const error = misplaced(() => {
      class MailHandlers {
        // @ts-expect-error the compiler refuses it too, where it checks types
        @OnScheduledJob('mail.send')
        send = () => {};
      }
      return MailHandlers;
    });
    expect(error.message).toBe(
      `@OnScheduledJob('mail.send') on MailHandlers.send: got a property, expected a method of a provider or controller. Write send(…) { … } instead of send = (…) => { … }.`,
    );
  });

  class MailHandlers {
    get send() {
      return () => {};
    }
  }
  const symbol = Symbol('send');

  it.each([
    ['an arrow function of a static property', [MailHandlers, 'make'], 'MailHandlers.make: got a static property'],
    [
      'an accessor',
      [MailHandlers.prototype, 'send', Object.getOwnPropertyDescriptor(MailHandlers.prototype, 'send')],
      'MailHandlers.send: got an accessor',
    ],
    [
      'a method that a symbol names, which Nest does not look for',
      [MailHandlers.prototype, symbol, { value: () => {} }],
      'MailHandlers.Symbol(send): got a method without a name',
    ],
    ['a class', [MailHandlers], 'MailHandlers: got a class'],
    ['a parameter', [MailHandlers.prototype, 'send', 0], 'MailHandlers.send: got a parameter'],
    [
      'a method by way of standard decorators',
      [() => {}, { kind: 'method', name: 'send' }],
      'Set "experimentalDecorators": true',
    ],
  ])('%s', (_, args, told) => {
    expect(misplaced(() => decorate(...(args as [unknown]))).message).toContain(told);
  });
});

describe('a method that has taken the place of a handler', () => {
  @Injectable()
  class MailHandlers {
    ran = '';

    @OnScheduledJob('mail.send')
    send(): void {
      this.ran = 'base';
    }
  }

  @Injectable()
  class PremiumMailHandlers extends MailHandlers {
    override send(): void {
      this.ran = 'override';
    }
  }

  it.each(['both', 'producer'] as const)(
    'by an override without the decorator is warned of, with role %s',
    async (role) => {
      const log = new LogLines();
      await startApp([PremiumMailHandlers], { role }, { log });
      expect(log.starting('warn PremiumMailHandlers')).toEqual([
        `warn PremiumMailHandlers.send (RootTestModule) overrides MailHandlers.send without @OnScheduledJob('mail.send'), so no method handles this job. Repeat the decorator on the override.`,
      ]);
    },
  );

  it('runs without a word where the override has the decorator, or another method handles the job', async () => {
    class Repeated extends MailHandlers {
      @OnScheduledJob('mail.send')
      override send(): void {
        this.ran = 'repeated';
      }
    }
    for (const [providers, ran] of [
      [[Repeated], 'repeated'],
      [[MailHandlers, PremiumMailHandlers], 'base'],
    ] as const) {
      const log = new LogLines();
      const { producer, get } = await startApp([...providers], {}, { log });
      await producer.schedule('mail.send', null);
      await until('it has run', () => get(providers[0] as typeof MailHandlers).ran === ran);
      expect(log.lines.filter((line) => line.includes('overrides'))).toEqual([]);
    }
  });

  it('by a decorator above stops the start, as the mark is lost with the old method', async () => {
    const Wrapped =
      (): MethodDecorator =>
      (_target, _key, descriptor): void => {
        const { value } = descriptor;
        descriptor.value = function (this: unknown, ...args: unknown[]) {
          return (value as (...args: unknown[]) => unknown).apply(this, args);
        } as typeof value;
      };
    class Hidden {
      @Wrapped()
      @OnScheduledJob('mail.send')
      send(): void {}
    }
    await expect(startApp([Hidden])).rejects.toThrow(
      new InvalidOptionsError(
        `Hidden.send (RootTestModule): another function, such as that of a decorator above @OnScheduledJob('mail.send'), has taken the place of the method, and the mark is lost. Put @OnScheduledJob and Nest's own decorators above that decorator.`,
      ),
    );
    class Visible {
      @OnScheduledJob('mail.send')
      @Wrapped()
      send(): string {
        return 'sent';
      }
    }
    const { producer, inspector } = await startApp([Visible]);
    await producer.schedule('mail.send', null);
    await until('it has run', async () => (await inspector.stats()).completed === 1);
  });
});

it('a handler that a factory makes anew for each job is found by its class', async () => {
  const runs: string[] = [];
  class Made {
    constructor(readonly by: string) {}

    @OnScheduledJob('made')
    run(): void {
      runs.push(this.by);
    }
  }
  const { producer } = await startApp([
    { provide: Made, scope: Scope.REQUEST, inject: [], useFactory: () => new Made('factory') },
    { provide: 'NO CLASS', scope: Scope.REQUEST, useFactory: () => ({}) },
  ]);
  await producer.schedule('made', null);
  await until('it has run', () => runs.length === 1);
  expect(runs).toEqual(['factory']);
});

class ReportHandlers {
  @OnScheduledJob('report', { instance: 'report' })
  make(): void {}
}

class MailHandlers {
  @OnScheduledJob('mail.send')
  send(): void {}
}

describe('instances of the module', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const instance = (name?: string, more: RedisScheduledQueueModuleOptions = {}) =>
    RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), name, ...more });

  async function start(imports: DynamicModule['imports'], providers: DynamicModule['providers'] = []): Promise<void> {
    const module = await Test.createTestingModule({ imports, providers }).setLogger(new LogLines()).compile();
    closing.push(() => module.close());
    await module.init();
  }

  it.each(['both', 'producer'] as const)(
    'a handler of one that is not there stops the start, with role %s',
    async (role) => {
      await expect(start([instance(undefined, { role }), instance('reports')], [ReportHandlers])).rejects.toThrow(
        new InvalidOptionsError(
          `ReportHandlers.make (RootTestModule): @OnScheduledJob('report'): instance: got 'report', which no RedisScheduledQueueModule of this application is named. There is: the one without a name, 'reports'. Did you mean 'reports'?`,
        ),
      );
    },
  );

  it('a handler without an instance stops the start where all have names', async () => {
    await expect(start([instance('reports'), instance('audit')], [MailHandlers])).rejects.toThrow(
      new InvalidOptionsError(
        `MailHandlers.send (RootTestModule): @OnScheduledJob('mail.send') names no instance, but each RedisScheduledQueueModule of this application has a name: 'reports', 'audit'. Say which one runs the handler: { instance: 'reports' }.`,
      ),
    );
  });

  it('two without a name stop the start, as each would run every handler', async () => {
    await expect(start([instance(), instance(undefined, { role: 'producer' })])).rejects.toThrow(
      new InvalidOptionsError(
        `RedisScheduledQueueModule: got 2 instances without a name, expected one: each of them would run the same handlers. Call forRoot or forRootAsync once, or give each further instance a name, such as forRoot({ name: 'reports', … }).`,
      ),
    );
  });

  it('two of one name stop the start', async () => {
    await expect(start([instance(), instance('reports'), instance('reports')])).rejects.toThrow(
      `RedisScheduledQueueModule: got 2 instances named 'reports', expected one`,
    );
  });

  it('one that several modules import is one', async () => {
    const shared = instance(undefined, {});
    @Module({ imports: [shared] })
    class Feature {}
    await start([shared, Feature], [MailHandlers]);
  });
});

describe(`a process of role 'producer'`, () => {
  class OtherMailHandlers {
    @OnScheduledJob('mail.send')
    deliver(): void {}
  }

  it('does not start with two handlers of one job, so that the mistake is found before the workers are deployed', async () => {
    await expect(startApp([MailHandlers, OtherMailHandlers], { role: 'producer' })).rejects.toThrow(
      DuplicateHandlerError,
    );
  });

  it('starts with a handler that is too heavy for its own concurrency, which concerns workers only', async () => {
    class Heavy {
      @OnScheduledJob('heavy', { weight: 50 })
      run(): void {}
    }
    await startApp([Heavy], { role: 'producer' });
    await expect(startApp([Heavy])).rejects.toThrow('weight: got 50, expected at most 10');
  });

  it('says nothing of overrides from configuration, which concern workers only', async () => {
    const log = new LogLines();
    await startApp([MailHandlers], { role: 'producer', jobs: { 'mail.sent': { concurrency: 2 } } }, { log });
    expect(log.starting('warn The option jobs')).toEqual([]);
  });
});

describe('a class with handlers and a constructor', () => {
  class Mailer {}

  it('stops the start without @Injectable(), as Nest would inject nothing', async () => {
    class Handlers {
      constructor(readonly mailer: Mailer) {}
      @OnScheduledJob('mail.send')
      send(): void {}
    }
    await expect(startApp([Mailer, Handlers])).rejects.toThrow(
      new InvalidOptionsError(
        'Handlers.send (RootTestModule): the constructor of Handlers has a parameter, and the class has no @Injectable(), so Nest would inject nothing. Put @Injectable() above the class.',
      ),
    );
  });

  it('needs none where it is made by a factory, given as a value, asks for nothing, or another decorator stands there', async () => {
    const mark = (_type: unknown) => {};
    class Made {
      constructor(readonly mailer: Mailer) {}
      @OnScheduledJob('made')
      run(): void {}
    }
    class Given {
      constructor(readonly mailer: Mailer) {}
      @OnScheduledJob('given')
      run(): void {}
    }
    class ByDefault {
      constructor(readonly mailer = new Mailer()) {}
      @OnScheduledJob('by default')
      run(): void {}
    }
    @mark
    class Decorated {
      constructor(readonly mailer: Mailer) {}
      @OnScheduledJob('decorated')
      run(): void {}
    }
    class Token {
      constructor(@Inject(Mailer) readonly mailer: Mailer) {}
      @OnScheduledJob('token')
      run(): void {}
    }
    const log = new LogLines();
    const made = { provide: Made, useFactory: () => new Made(new Mailer()) };
    const given = { provide: Given, useValue: new Given(new Mailer()) };
    await startApp([Mailer, made, given, ByDefault, Decorated, Token], {}, { log });
    expect(log.atStart.filter((line) => line.includes('Mapped'))).toHaveLength(5);
  });
});

describe('the bare class of the module in imports stops the start', () => {
  const message =
    /^RedisScheduledQueueModule: got the bare class in imports, expected RedisScheduledQueueModule\.forRoot\(/;

  it('alone', async () => {
    const compiled = Test.createTestingModule({ imports: [RedisScheduledQueueModule] }).compile();
    await expect(compiled).rejects.toThrow(InvalidOptionsError);
    await expect(compiled).rejects.toThrow(message);
  });

  it('in a module beside the root, which has forRoot', async () => {
    @Module({ imports: [RedisScheduledQueueModule] })
    class Feature {}
    const forRoot = RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix() });
    await expect(Test.createTestingModule({ imports: [forRoot, Feature] }).compile()).rejects.toThrow(message);
  });

  it('and not where a module hands on what it has imported', async () => {
    const forRoot = RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), isGlobal: false });
    @Module({ imports: [forRoot], exports: [RedisScheduledQueueModule] })
    class Shared {}
    @Injectable()
    class User {
      constructor(readonly producer: ScheduledQueueProducer) {}
    }
    const app = await Test.createTestingModule({ imports: [Shared], providers: [User] }).compile();
    expect(app.get(User).producer).toBeDefined();
    await app.close();
  });
});

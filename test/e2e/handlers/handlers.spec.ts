import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, createParamDecorator, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { EMPTY, from, of } from 'rxjs';
import { DuplicateHandlerError, InvalidOptionsError, OnScheduledJob, ScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

describe('a job is handled by', () => {
  it('a method of a controller', async () => {
    @Controller()
    class Reports {
      readonly payloads: unknown[] = [];

      @OnScheduledJob('report')
      make(payload: unknown): void {
        this.payloads.push(payload);
      }
    }
    const { producer, get } = await startApp([], {}, { controllers: [Reports] });
    await producer.schedule('report', 'weekly');
    await until('the job is handled', () => get(Reports).payloads.length === 1);
    expect(get(Reports).payloads).toEqual(['weekly']);
  });

  it('a method that a class has inherited, with the instance of the inheriting class', async () => {
    abstract class Importer {
      readonly imported: unknown[] = [];
      abstract readonly source: string;

      @OnScheduledJob('import')
      run(payload: unknown): void {
        this.imported.push([this.source, payload]);
      }
    }
    @Injectable()
    class FileImporter extends Importer {
      readonly source = 'file';
    }
    const { producer, get } = await startApp([FileImporter]);
    await producer.schedule('import', 1);
    await until('the job is handled', () => get(FileImporter).imported.length === 1);
    expect(get(FileImporter).imported).toEqual([['file', 1]]);
  });

  it('one method for two jobs, and in two queues for one name', async () => {
    class Both {
      readonly runs: string[] = [];

      @OnScheduledJob('created')
      @OnScheduledJob('updated')
      @OnScheduledJob('updated', { queue: 'slow' })
      run(_: unknown, job: ScheduledJob): void {
        this.runs.push(`${job.queue}/${job.name}`);
      }
    }
    const { producer, get } = await startApp([Both]);
    await producer.scheduleMany([
      { job: 'created', payload: null },
      { job: 'updated', payload: null },
      { job: 'updated', payload: null, options: { queue: 'slow' } },
    ]);
    const { runs } = get(Both);
    await until('all are handled', () => runs.length === 3);
    expect(runs.sort()).toEqual(['default/created', 'default/updated', 'slow/updated']);
  });

  it('a provider that a factory or a value gives', async () => {
    class Made {
      readonly runs: string[] = [];

      constructor(readonly by: string) {}

      @OnScheduledJob('by-factory')
      run(_: unknown, job: ScheduledJob): void {
        this.runs.push(job.name);
      }
    }
    class Value {
      readonly runs: string[] = [];

      @OnScheduledJob('by-value')
      run(_: unknown, job: ScheduledJob): void {
        this.runs.push(job.name);
      }
    }
    const providers = [
      { provide: 'NAME', useValue: 'factory' },
      { provide: 'MADE', inject: ['NAME'], useFactory: (name: string) => new Made(name) },
      { provide: Value, useValue: new Value() },
      { provide: 'NOTHING', useValue: null },
      { provide: 'BARE', useValue: Object.create(null) },
    ];
    const { producer, app } = await startApp(providers);
    await producer.scheduleMany([
      { job: 'by-factory', payload: null },
      { job: 'by-value', payload: null },
    ]);
    await until('both are handled', () => app.get('MADE').runs.length + app.get(Value).runs.length === 2);
    expect(app.get('MADE').runs).toEqual(['by-factory']);
    expect(app.get(Value).runs).toEqual(['by-value']);
  });
});

describe('a request-scoped handler', () => {
  const made: Scoped[] = [];
  abstract class Scoped {
    payload: unknown;
    job!: ScheduledJob;
    abstract readonly request: unknown;

    @OnScheduledJob('scoped')
    run(payload: unknown, job: ScheduledJob): void {
      this.payload = payload;
      this.job = job;
      made.push(this);
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class ScopedProvider extends Scoped {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  @Controller({ scope: Scope.REQUEST })
  class ScopedController extends Scoped {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class Context {
    constructor(@Inject(REQUEST) readonly request: ScheduledJob) {}
  }

  /** Request-scoped by what it depends on. */
  @Injectable()
  class Dependent extends Scoped {
    readonly request: unknown;

    constructor(context: Context) {
      super();
      this.request = context.request;
    }
  }

  afterEach(() => void made.splice(0));

  it.each([
    ['of a provider', [ScopedProvider], [], ScopedProvider],
    ['of a controller', [], [ScopedController], ScopedController],
    ['through a dependency', [Context, Dependent], [], Dependent],
    ['under a token', [{ provide: 'SCOPED', useClass: ScopedProvider }], [], ScopedProvider],
  ])('%s is made anew for each job, and can inject the job', async (_, providers, controllers, type) => {
    const { producer } = await startApp(providers as never, {}, { controllers: controllers as never });
    await producer.schedule('scoped', 1);
    await producer.schedule('scoped', 2);
    await until('both are handled', () => made.length === 2);
    expect(made.map(({ payload }) => payload).sort()).toEqual([1, 2]);
    expect(made[0]).not.toBe(made[1]);
    for (const handler of made) {
      expect(handler).toBeInstanceOf(type);
      expect(handler.request).toBe(handler.job);
    }
  });

  it('fails the attempt when it cannot be made', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Broken {
      constructor() {
        throw new Error('no tenant');
      }

      @OnScheduledJob('broken')
      run(): void {}
    }
    const { producer, inspector } = await startApp([Broken]);
    const ref = await producer.schedule('broken', null, { maxAttempts: 1 });
    const dead = await until('the job is dead', async () => {
      const job = await inspector.job(ref);
      return job?.state === 'dead' ? job : undefined;
    });
    expect(dead.failures.map(({ message }) => message)).toEqual(['no tenant']);
  });

  it('is the one of its own module, where another has one of that token', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Mail extends Scoped {
      readonly request = 'mail';
    }
    @Injectable({ scope: Scope.REQUEST })
    class Other {
      readonly request = 'other';
      run(): void {
        made.push(this as never);
      }
    }
    @Module({ providers: [{ provide: 'HANDLER', useClass: Mail }] })
    class MailModule {}
    @Module({ providers: [{ provide: 'HANDLER', useClass: Other }] })
    class OtherModule {}
    const { producer } = await startApp([], {}, { imports: [MailModule, OtherModule] });
    await producer.schedule('scoped', null);
    await until('the job is handled', () => made.length === 1);
    expect(made[0]!.request).toBe('mail');
  });
});

it('a transient handler is constructed before it handles', async () => {
  const names: string[] = [];
  @Injectable({ scope: Scope.TRANSIENT })
  class Transient {
    private readonly name = 'constructed';

    @OnScheduledJob('transient')
    run(): void {
      names.push(this.name);
    }
  }
  const { producer } = await startApp([Transient]);
  await producer.schedule('transient', null);
  await until('the job is handled', () => names.length === 1);
  expect(names).toEqual(['constructed']);
});

it.each([
  ['', Scope.DEFAULT],
  ['request-scoped ', Scope.REQUEST],
  ['transient ', Scope.TRANSIENT],
])('a %shandler that has an alias (useExisting) is one handler, and runs once a job', async (_, scope) => {
  let runs = 0;
  @Injectable({ scope })
  class Handlers {
    @OnScheduledJob('aliased')
    run(): void {
      runs++;
    }
  }
  const { producer, inspector } = await startApp([Handlers, { provide: 'ALIAS', useExisting: Handlers }]);
  await producer.schedule('aliased', null);
  await until('the job has completed', async () => (await inspector.stats()).completed === 1);
  expect(runs).toBe(1);
});

describe('the app does not start', () => {
  class First {
    @OnScheduledJob('mail')
    send(): void {}
  }
  class Second {
    @OnScheduledJob('mail')
    deliver(): void {}
  }
  @Module({ providers: [First] })
  class HomeModule {}
  @Module({ providers: [First] })
  class OfficeModule {}

  it('with two handlers of one job, and names both', async () => {
    const starting = startApp([First, Second]);
    await expect(starting).rejects.toThrow(DuplicateHandlerError);
    await expect(starting).rejects.toThrow(
      `Job 'mail' of queue 'default' has two handlers: First.send (RootTestModule) and Second.deliver (RootTestModule).`,
    );
  });

  it('with one handler class in two modules, and names both modules', async () => {
    const starting = startApp([], {}, { imports: [HomeModule, OfficeModule] });
    await expect(starting).rejects.toThrow('has two handlers: First.send (HomeModule) and First.send (OfficeModule).');
    await expect(starting).rejects.toMatchObject({ code: 'DUPLICATE_HANDLER', queue: 'default', jobName: 'mail' });
  });

  it('with a parameter decorator on a handler, and says what a handler gets', async () => {
    const User = createParamDecorator(() => 'user');
    class Decorated {
      @OnScheduledJob('mail')
      send(_payload: unknown, @User() _user: unknown): void {}
    }
    const starting = startApp([Decorated]);
    await expect(starting).rejects.toThrow(InvalidOptionsError);
    await expect(starting).rejects.toThrow(
      `Decorated.send (RootTestModule): handles job 'mail' and has a parameter decorator: a handler gets (payload, job)`,
    );
  });
});

it('the same name in two queues has two handlers', async () => {
  const runs: string[] = [];
  class Quick {
    @OnScheduledJob('mail')
    run(): void {
      runs.push('quick');
    }
  }
  class Bulk {
    @OnScheduledJob('mail', { queue: 'bulk' })
    run(): void {
      runs.push('bulk');
    }
  }
  const { producer } = await startApp([Quick, Bulk]);
  await producer.schedule('mail', null, { queue: 'bulk' });
  await until('the bulk one is handled', () => runs.length === 1);
  await producer.schedule('mail', null);
  await until('the quick one is handled', () => runs.length === 2);
  expect(runs).toEqual(['bulk', 'quick']);
});

describe('what a handler answers is the result of the job:', () => {
  class Answers {
    @OnScheduledJob('sync')
    sync() {
      return { sum: 3 };
    }
    @OnScheduledJob('promise')
    async promise() {
      return [1, 2];
    }
    @OnScheduledJob('observable')
    observable() {
      return from([1, 2, 3]);
    }
    @OnScheduledJob('single')
    single() {
      return of('one');
    }
    @OnScheduledJob('empty')
    empty() {
      return EMPTY;
    }
    @OnScheduledJob('nothing')
    nothing(): void {}
    @OnScheduledJob('unkeepable')
    unkeepable() {
      return { big: 1n };
    }
  }

  it.each([
    ['sync', { sum: 3 }],
    ['promise', [1, 2]],
    ['observable', 3],
    ['single', 'one'],
    ['empty', undefined],
    ['nothing', undefined],
    ['unkeepable', undefined],
  ])('%s', async (name, result) => {
    const { producer, inspector } = await startApp([Answers], { queues: { default: { keepCompleted: 5 } } });
    const ref = await producer.schedule(name, null);
    const job = await until('the job has ended', async () => {
      const found = await inspector.job(ref);
      return found?.endedAt ? found : undefined;
    });
    expect(job).toMatchObject({ state: 'completed', attempts: 1, failures: [] });
    expect(job.result).toEqual(result);
  });
});

describe('a handler that throws', () => {
  const circular: Record<string, unknown> = { status: 500 };
  circular.self = circular;
  const unprintable = Object.create(null);
  const hostile = {
    get message(): string {
      throw new Error('gotcha');
    },
  };
  const thrown: Record<string, unknown> = {
    error: new TypeError('no such user'),
    undefined: undefined,
    null: null,
    string: 'plain text',
    number: 42,
    symbol: Symbol('s'),
    circular,
    unprintable,
    hostile,
  };

  class Throwing {
    readonly attempts: number[] = [];

    @OnScheduledJob('throw')
    throwIt(kind: string): void {
      throw thrown[kind];
    }
    @OnScheduledJob('reject')
    async rejectIt(kind: string): Promise<void> {
      throw thrown[kind];
    }
    @OnScheduledJob('retried', { backoff: { type: 'fixed', delayMs: 10 } })
    retried(_: unknown, job: ScheduledJob): void {
      this.attempts.push(job.attempt);
      throw new TypeError(`no. ${job.attempt}`);
    }
    @OnScheduledJob('fine')
    fine(): void {}
  }

  const CASES: [string, { name: string; message: string }][] = [
    ['error', { name: 'TypeError', message: 'no such user' }],
    ['undefined', { name: 'undefined', message: 'undefined' }],
    ['null', { name: 'object', message: 'null' }],
    ['string', { name: 'string', message: 'plain text' }],
    ['number', { name: 'number', message: '42' }],
    ['symbol', { name: 'symbol', message: 'a symbol' }],
    ['circular', { name: 'object', message: 'an object' }],
    ['unprintable', { name: 'object', message: 'an object' }],
    ['hostile', { name: 'Error', message: 'what was thrown could not be read' }],
  ];

  it.each(CASES)('%s fails the attempt and leaves the worker whole', async (kind, failure) => {
    const { producer, inspector } = await startApp([Throwing], { queues: { default: { keepCompleted: 5 } } });
    for (const name of ['throw', 'reject']) {
      const ref = await producer.schedule(name, kind, { maxAttempts: 1 });
      const dead = await until('the job is dead', async () => {
        const job = await inspector.job(ref);
        return job?.state === 'dead' ? job : undefined;
      });
      expect(dead).toMatchObject({ attempts: 1, reason: 'attempts-exhausted', failures: [{ attempt: 1, ...failure }] });
    }
    const fine = await producer.schedule('fine', null);
    await until('the next job completes', async () => (await inspector.job(fine))?.state === 'completed');
  });

  it('something unprintable does not hold up the next job until the lease ends', async () => {
    const { producer, inspector } = await startApp([Throwing], {
      queues: { default: { concurrency: 1, keepCompleted: 5 } },
    });
    const [, fine] = await producer.scheduleMany([
      { job: 'throw', payload: 'unprintable', options: { maxAttempts: 1, priority: 1 } },
      { job: 'fine', payload: null },
    ]);
    await until('the next job completes', async () => (await inspector.job(fine!))?.state === 'completed');
    expect(await inspector.stats()).toMatchObject({ started: 2, completed: 1, dead: 1, recovered: 0 });
  });

  it('is tried again after its backoff, as often as allowed, and then lies dead with the history of every attempt', async () => {
    const { producer, inspector, get } = await startApp([Throwing]);
    const ref = await producer.schedule('retried', { id: 7 }, { maxAttempts: 3, headers: { trace: 'abc' } });
    const dead = await until('the job is dead', async () => {
      const job = await inspector.job(ref);
      return job?.state === 'dead' ? job : undefined;
    });
    expect(get(Throwing).attempts).toEqual([1, 2, 3]);
    expect(dead).toMatchObject({
      id: ref.id,
      queue: 'default',
      name: 'retried',
      payload: { id: 7 },
      headers: { trace: 'abc' },
      attempts: 3,
      reason: 'attempts-exhausted',
      failures: [
        { attempt: 1, name: 'TypeError', message: 'no. 1' },
        { attempt: 2, name: 'TypeError', message: 'no. 2' },
        { attempt: 3, name: 'TypeError', message: 'no. 3' },
      ],
    });
    const [first, second, third] = dead.failures.map(({ at }) => at.getTime());
    expect(second! - first!).toBeGreaterThanOrEqual(10);
    expect(third! - second!).toBeGreaterThanOrEqual(10);
    expect(dead.endedAt).toEqual(dead.failures[2]!.at);
    expect(dead.failures[0]!.stack).toContain('retried');
    expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 0, dead: 1 });
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { IsInt, IsString } from 'class-validator';
import { EMPTY, map, type Observable, tap } from 'rxjs';
import {
  defineScheduledJob,
  type InspectedJob,
  OnScheduledJob,
  RedisScheduledQueueModule,
  ScheduledJob,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await stopApps();
  for (const app of closing.splice(0)) await app.close();
});

class Mail {
  @IsInt() to!: number;
}
class Letter {
  @IsString() street!: string;
}
const sendMail = defineScheduledJob('mail', { payload: Mail, maxAttempts: 1 });
const sendLetter = defineScheduledJob('letter', { payload: Letter, maxAttempts: 1 });

const KEEP = { queues: { default: { keepCompleted: 10 } } };

/** Waits for a job's end: `completed` or `dead`. */
function ended(inspector: ScheduledQueueInspector, ref: { id: string; queue: string }): Promise<InspectedJob> {
  return until('the job has ended', async () => {
    const job = await inspector.job(ref);
    return job?.endedAt ? job : undefined;
  });
}

/** Runs one mail in an app with these providers and tells how it ended. */
async function runMail(providers: Provider[]): Promise<InspectedJob> {
  const { producer, inspector } = await startApp(providers, KEEP);
  return ended(inspector, await producer.schedule(sendMail, { to: 7 }));
}

describe('a guard', () => {
  class Refusing implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }

  it('that refuses fails the attempt, and the handler does not run', async () => {
    let runs = 0;
    class Handlers {
      @OnScheduledJob(sendMail)
      @UseGuards(Refusing)
      send(): void {
        runs++;
      }
    }
    expect(await runMail([Handlers])).toMatchObject({
      state: 'dead',
      failures: [{ name: 'ForbiddenException', message: 'Forbidden resource' }],
    });
    expect(runs).toBe(0);
  });

  it('on the class of a request-scoped handler refuses as well', async () => {
    let runs = 0;
    @UseGuards(Refusing)
    @Injectable({ scope: Scope.REQUEST })
    class Handlers {
      @OnScheduledJob(sendMail)
      send(): void {
        runs++;
      }
    }
    expect(await runMail([Handlers])).toMatchObject({ state: 'dead', failures: [{ name: 'ForbiddenException' }] });
    expect(runs).toBe(0);
  });

  it('that is request-scoped itself gets the job injected', async () => {
    let injected: unknown;
    @Injectable({ scope: Scope.REQUEST })
    class Scoped implements CanActivate {
      constructor(@Inject(REQUEST) private readonly job: ScheduledJob) {}

      canActivate(): boolean {
        injected = this.job;
        return true;
      }
    }
    let handled: unknown;
    class Handlers {
      @UseGuards(Scoped)
      @OnScheduledJob(sendMail)
      send(_: Mail, job: ScheduledJob<Mail>): void {
        handled = job;
      }
    }
    expect(await runMail([Handlers])).toMatchObject({ state: 'completed' });
    expect(handled).toBeInstanceOf(ScheduledJob);
    expect(injected).toBe(handled);
  });

  it.each(['provider', 'controller'])('that is transient is constructed for a %s', async (kind) => {
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient implements CanActivate {
      private readonly name = 'constructed';

      canActivate(): boolean {
        seen.push(this.name);
        return true;
      }
    }
    @Controller()
    class Handlers {
      @UseGuards(Transient)
      @OnScheduledJob(sendMail)
      send(): void {}
    }
    const [providers, controllers] = kind === 'provider' ? [[Handlers], []] : [[], [Handlers]];
    const { producer, inspector } = await startApp(providers, KEEP, { controllers });
    expect(await ended(inspector, await producer.schedule(sendMail, { to: 7 }))).toMatchObject({ state: 'completed' });
    expect(seen).toEqual(['constructed']);
  });

  it.each(['provider', 'controller'])('of a %s can inject what its module provides', async (kind) => {
    const seen: unknown[] = [];
    @Injectable()
    class Asking implements CanActivate {
      constructor(@Inject('TENANT') private readonly tenant: string) {}

      canActivate(): boolean {
        seen.push(this.tenant);
        return false;
      }
    }
    @UseGuards(Asking)
    @Controller()
    class Handlers {
      @OnScheduledJob(sendMail)
      send(): void {}
    }
    const tenant = { provide: 'TENANT', useValue: 'acme' };
    const members =
      kind === 'provider' ? { providers: [Handlers, tenant] } : { controllers: [Handlers], providers: [tenant] };
    @Module(members)
    class Feature {}
    const { producer, inspector } = await startApp([], KEEP, { imports: [Feature] });
    expect(await ended(inspector, await producer.schedule(sendMail, { to: 7 }))).toMatchObject({ state: 'dead' });
    expect(seen).toEqual(['acme']);
  });

  it(`sees a context of type 'scheduled-job' with payload and job as its arguments, the class and the method`, async () => {
    const seen: unknown[] = [];
    let handled: unknown[] = [];
    class Looking implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        seen.push(context.getType(), context.getClass(), context.getHandler().name, ...context.getArgs());
        return true;
      }
    }
    @Injectable()
    class Handlers {
      @OnScheduledJob(sendMail)
      @UseGuards(Looking)
      send(...args: [payload: Mail, job: ScheduledJob<Mail>]): void {
        handled = args;
      }
    }
    expect(await runMail([Handlers])).toMatchObject({ state: 'completed' });
    expect(seen.slice(0, 3)).toEqual(['scheduled-job', Handlers, 'send']);
    expect(seen).toHaveLength(5);
    expect(seen[3]).toEqual({ to: 7 });
    expect(seen[3]).toBeInstanceOf(Mail);
    expect(seen[4]).toBe(handled[1]);
  });
});

describe('an interceptor', () => {
  class Doubling implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(map((value: number) => value * 2));
    }
  }
  class Swallowing implements NestInterceptor {
    intercept(): Observable<unknown> {
      return EMPTY;
    }
  }

  it('of the class and one of the method surround the handler, and may change its result', async () => {
    const order: string[] = [];
    class Surrounding implements NestInterceptor {
      intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
        order.push('before');
        return next.handle().pipe(tap(() => order.push('after')));
      }
    }
    @UseInterceptors(Surrounding)
    @Controller()
    class Handlers {
      @UseInterceptors(Doubling)
      @OnScheduledJob(sendMail)
      send(): number {
        order.push('handler');
        return 21;
      }
    }
    const { producer, inspector } = await startApp([], KEEP, { controllers: [Handlers] });
    const job = await ended(inspector, await producer.schedule(sendMail, { to: 7 }));
    expect(job).toMatchObject({ state: 'completed', result: 42 });
    expect(order).toEqual(['before', 'handler', 'after']);
  });

  it('that answers nothing instead of the handler completes the job', async () => {
    class Handlers {
      @UseInterceptors(Swallowing)
      @OnScheduledJob(sendMail)
      send(): void {
        throw new Error('must not run');
      }
    }
    expect(await runMail([Handlers])).toMatchObject({ state: 'completed', failures: [] });
  });
});

describe('a pipe', () => {
  it(`gets the payload with the definition's class, whatever the signature says, for each job of a method`, async () => {
    const seen: unknown[] = [];
    class Looking implements PipeTransform {
      transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
        seen.push([(value as object).constructor, metatype]);
        return value;
      }
    }
    class Handlers {
      @UsePipes(Looking)
      @OnScheduledJob(sendMail)
      @OnScheduledJob(sendLetter)
      send(_: Mail | Letter): void {}
    }
    const { producer, inspector } = await startApp([Handlers], KEEP);
    await ended(inspector, await producer.schedule(sendMail, { to: 7 }));
    await ended(inspector, await producer.schedule(sendLetter, { street: 'Elm' }));
    expect(seen).toEqual([
      [Mail, Mail],
      [Letter, Letter],
    ]);
  });

  it('changes the payload that the handler gets, and leaves the job alone', async () => {
    class Adding implements PipeTransform {
      transform(value: Mail): unknown {
        return { to: value.to + 1 };
      }
    }
    let handled: [unknown, unknown] | undefined;
    class Handlers {
      @UsePipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }), Adding)
      @OnScheduledJob(sendMail)
      send(payload: Mail, job: ScheduledJob<Mail>): void {
        handled = [payload, job];
      }
    }
    const { producer, inspector } = await startApp([Handlers], KEEP);
    const ref = await producer.schedule(sendMail, { to: 7 });
    expect(await ended(inspector, ref)).toMatchObject({ state: 'completed', failures: [] });
    expect(handled![0]).toEqual({ to: 8 });
    expect(handled![1]).toBeInstanceOf(ScheduledJob);
    expect((handled![1] as ScheduledJob).id).toBe(ref.id);
    expect((handled![1] as ScheduledJob).signal).toBeInstanceOf(AbortSignal);
  });

  it('that refuses the payload makes it a dead letter', async () => {
    class Handlers {
      @UsePipes(new ValidationPipe({ forbidNonWhitelisted: true, whitelist: true }))
      @OnScheduledJob(sendMail)
      send(_: Mail): void {}
    }
    const { producer, inspector } = await startApp([Handlers], KEEP);
    const ref = await producer.schedule(sendMail, { to: 7, extra: 1 } as Mail);
    expect(await ended(inspector, ref)).toMatchObject({
      state: 'dead',
      reason: 'invalid-payload',
      failures: [{ name: 'InvalidPayloadError' }],
    });
  });
});

describe('an exception filter', () => {
  class Refused extends Error {}

  @Catch(Refused)
  class Returning implements ExceptionFilter {
    catch(error: Error): unknown {
      return `handled: ${error.message}`;
    }
  }
  @Catch(Refused)
  class ReturningNothing implements ExceptionFilter {
    catch(): void {}
  }
  @Catch()
  class Rethrowing implements ExceptionFilter {
    catch(error: Error, host: ArgumentsHost): void {
      throw new Error(`${host.getType()} ${host.getArgByIndex(1).name}: ${error.message}`);
    }
  }
  @Catch()
  class RejectingLater implements ExceptionFilter {
    async catch(error: Error): Promise<void> {
      throw new Error(`later: ${error.message}`);
    }
  }

  it.each([
    ['that returns completes the job with what it returned', Returning, { state: 'completed', result: 'handled: no' }],
    ['that returns nothing completes the job', ReturningNothing, { state: 'completed', failures: [] }],
    [
      'that rethrows fails the attempt with its error',
      Rethrowing,
      { state: 'dead', failures: [{ message: 'scheduled-job mail: no' }] },
    ],
    [
      'that rejects fails the attempt with its error',
      RejectingLater,
      { state: 'dead', failures: [{ message: 'later: no' }] },
    ],
  ])('%s', async (_, filter, expected) => {
    class Handlers {
      @UseFilters(filter)
      @OnScheduledJob(sendMail)
      async send(): Promise<void> {
        throw new Refused('no');
      }
    }
    expect(await runMail([Handlers])).toMatchObject(expected);
  });

  it('for another kind of error leaves the failure as it was', async () => {
    class Handlers {
      @UseFilters(Returning)
      @OnScheduledJob(sendMail)
      send(): void {
        throw new TypeError('other');
      }
    }
    expect(await runMail([Handlers])).toMatchObject({
      state: 'dead',
      failures: [{ name: 'TypeError', message: 'other' }],
    });
  });
});

describe('the global guards, pipes, interceptors and filters of the app', () => {
  const ran = new Set<string>();

  class GlobalGuard implements CanActivate {
    canActivate(): boolean {
      ran.add('guard');
      return true;
    }
  }
  class GlobalPipe implements PipeTransform {
    transform(value: unknown): unknown {
      ran.add('pipe');
      return value;
    }
  }
  class GlobalInterceptor implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      ran.add('interceptor');
      return next.handle();
    }
  }
  @Catch()
  class GlobalFilter implements ExceptionFilter {
    catch(): void {
      ran.add('filter');
    }
  }

  class Handlers {
    @OnScheduledJob(sendMail)
    send(): void {
      throw new ForbiddenException('thrown by the handler');
    }
  }
  class HandlersWithPipe {
    @UsePipes()
    @UseGuards()
    @OnScheduledJob(sendMail)
    send(): void {
      throw new ForbiddenException('thrown by the handler');
    }
  }
  @Injectable({ scope: Scope.REQUEST })
  class ScopedHandlers {
    @OnScheduledJob(sendMail)
    send(): void {
      throw new ForbiddenException('thrown by the handler');
    }
  }

  const AS_PROVIDERS: Provider[] = [
    { provide: APP_GUARD, useClass: GlobalGuard },
    { provide: APP_PIPE, useClass: GlobalPipe },
    { provide: APP_INTERCEPTOR, useClass: GlobalInterceptor },
    { provide: APP_FILTER, useClass: GlobalFilter },
  ];

  /** One job in an HTTP app that has the globals in one of both ways; answers how the job ended. */
  async function run(handlers: Provider, inheritAppConfig: boolean, way: 'providers' | 'use'): Promise<InspectedJob> {
    ran.clear();
    const options = {
      connection: redisUrl(),
      prefix: newPrefix(),
      ...KEEP,
      ...(inheritAppConfig && { inheritAppConfig }),
    };
    const module = await Test.createTestingModule({
      imports: [RedisScheduledQueueModule.forRoot(options)],
      providers: way === 'providers' ? [handlers, ...AS_PROVIDERS] : [handlers],
    }).compile();
    const app = module.createNestApplication({ logger: false });
    if (way === 'use') {
      app.useGlobalGuards(new GlobalGuard());
      app.useGlobalPipes(new GlobalPipe());
      app.useGlobalInterceptors(new GlobalInterceptor());
      app.useGlobalFilters(new GlobalFilter());
    }
    await app.init();
    closing.push(app);
    return ended(app.get(ScheduledQueueInspector), await app.get(ScheduledQueueProducer).schedule(sendMail, { to: 7 }));
  }

  const WAYS = ['use', 'providers'] as const;
  const KINDS = [Handlers, HandlersWithPipe, ScopedHandlers];
  const CASES = WAYS.flatMap((way) => KINDS.map((kind) => [way, kind] as const));

  it.each(CASES)('do not run around handlers by default (%s, %p)', async (way, handlers) => {
    expect(await run(handlers, false, way)).toMatchObject({
      state: 'dead',
      failures: [{ message: 'thrown by the handler' }],
    });
    expect([...ran]).toEqual([]);
  });

  it.each(CASES)('run around handlers with inheritAppConfig: true (%s, %p)', async (way, handlers) => {
    expect(await run(handlers, true, way)).toMatchObject({ state: 'completed' });
    expect([...ran]).toEqual(['guard', 'interceptor', 'pipe', 'filter']);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  BadRequestException,
  type CallHandler,
  type CanActivate,
  Catch,
  type ExceptionFilter,
  HttpException,
  Injectable,
  InternalServerErrorException,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  UnprocessableEntityException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { IsEmail, IsInt, ValidateNested } from 'class-validator';
import { catchError } from 'rxjs';
import {
  defineScheduledJob,
  type InspectedJob,
  InvalidPayloadError,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledQueueEvent,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

class Mail {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
}

/** Without a class of its own, so that only pipes look at the payload. */
const sendMail = defineScheduledJob<unknown>('mail', { backoff: { type: 'fixed', delayMs: '1h' } });
/** What a pipe has to know of the payload, which no class of the definition says. */
const OF_MAIL = new ValidationPipe({ expectedType: Mail });

function throwing(make: () => unknown): PipeTransform {
  return {
    transform() {
      throw make();
    },
  };
}

/** How a mail of the payload given fares: its job once it has ended or waits for its next attempt, the events and the log. */
async function run(providers: Provider[], payload: unknown = {}, options: RedisScheduledQueueModuleOptions = {}) {
  const log = new LogLines();
  const app = await startApp(providers, { queues: { default: { keepCompleted: 10 } }, ...options }, { log });
  const events: ScheduledQueueEvent[] = [];
  app.events.events$.subscribe((event) => events.push(event));
  const ref = await app.producer.schedule(sendMail, payload);
  await until('the end of the run is told', () => events.some(({ type }) => type === 'failed' || type === 'completed'));
  const job: InspectedJob = (await app.inspector.job(ref))!;
  return { job, events, log: log.lines, id: ref.id };
}

function handlers(pipe: PipeTransform | (new () => PipeTransform), runs: unknown[] = []): Provider {
  class Handlers {
    @UsePipes(pipe)
    @OnScheduledJob(sendMail)
    send(payload: unknown): void {
      runs.push(payload);
    }
  }
  return Handlers;
}

describe('a payload that a pipe refuses with a client error', () => {
  it("is a dead letter at once, with the pipe's findings in its failure, its event and the log, and nothing of the payload", async () => {
    const runs: unknown[] = [];
    const { job, events, log, id } = await run([handlers(OF_MAIL, runs)], { userId: 'seven', email: 'secret' });
    const message =
      "The payload of job 'mail' was refused by a pipe of Handlers.send (BadRequestException, 400): userId must be an integer number; email must be an email.";
    expect(job).toMatchObject({ state: 'dead', reason: 'invalid-payload', attempts: 1 });
    expect(job.failures).toEqual([expect.objectContaining({ name: 'InvalidPayloadError', message, attempt: 1 })]);
    expect(runs).toEqual([]);
    const { error } = events.find(({ type }) => type === 'dead') as { error: InvalidPayloadError };
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error).toMatchObject({ code: 'INVALID_PAYLOAD', queue: 'default', jobName: 'mail', jobId: id });
    expect(error.findings).toEqual([
      { path: '', messages: ['userId must be an integer number'] },
      { path: '', messages: ['email must be an email'] },
    ]);
    expect(error.cause).toBeInstanceOf(BadRequestException);
    expect(log.join()).toContain('userId must be an integer number; email must be an email');
    expect(JSON.stringify([job.failures, log])).not.toMatch(/seven|secret/);
  });

  it('counts as failed and dead, and not as retried', async () => {
    const { inspector, producer } = await startApp([handlers(OF_MAIL)]);
    await producer.schedule(sendMail, {});
    const stats = await until('it is dead', async () => {
      const read = await inspector.stats();
      return read.dead > 0 && read;
    });
    expect(stats).toMatchObject({ started: 1, failed: 1, dead: 1, retried: 0 });
  });

  it('is one for pipes of the application, where they run around handlers', async () => {
    class Handlers {
      @OnScheduledJob(sendMail)
      send(_: unknown): void {}
    }
    const providers = [Handlers, { provide: APP_PIPE, useValue: OF_MAIL }];
    const { job } = await run(providers, {}, { inheritAppConfig: true });
    expect(job).toMatchObject({ state: 'dead', reason: 'invalid-payload' });
    expect((await run(providers, {})).job).toMatchObject({ state: 'completed' });
  });

  it('is one for request-scoped pipes and handlers', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Refusing implements PipeTransform {
      transform(): never {
        throw new BadRequestException('not so');
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Handlers {
      @UsePipes(Refusing)
      @OnScheduledJob(sendMail)
      send(_: unknown): void {}
    }
    expect((await run([Handlers])).job).toMatchObject({ state: 'dead', reason: 'invalid-payload' });
  });

  it.each([
    [
      'one sentence',
      () => new UnprocessableEntityException('no such user'),
      '(UnprocessableEntityException, 422): no such user.',
    ],
    ['a bare text', () => new HttpException('not so', 418), '(HttpException, 418): not so.'],
    ['no word', () => new BadRequestException(), '(BadRequestException, 400): Bad Request.'],
    [
      'the issues of a schema library',
      () =>
        new BadRequestException({
          message: 'Validation failed',
          errors: [
            { path: ['to', 0, 'street'], message: 'Required', input: 'secret' },
            { path: [], message: 'Unknown key' },
          ],
        }),
      '(BadRequestException, 400): to.0.street: Required; Unknown key.',
    ],
    [
      'findings of class-validator as they are',
      () =>
        new BadRequestException([
          {
            property: 'address',
            target: { secret: 'secret' },
            value: 'secret',
            children: [{ property: 'street', value: 'secret', constraints: { isString: 'street must be a string' } }],
          },
        ]),
      '(BadRequestException, 400): address.street: street must be a string.',
    ],
  ])('says what the pipe said: %s', async (_, make, said) => {
    const { job, log } = await run([handlers(throwing(make))], { secret: 'secret' });
    expect(job).toMatchObject({ state: 'dead', reason: 'invalid-payload' });
    expect(job.failures[0]!.message).toBe(`The payload of job 'mail' was refused by a pipe of Handlers.send ${said}`);
    expect(JSON.stringify([job.failures, log])).not.toContain('secret');
  });

  it('is dead as well where a filter or an interceptor rethrows what the pipe threw', async () => {
    @Catch(BadRequestException)
    class Rethrowing implements ExceptionFilter {
      catch(error: Error): never {
        throw error;
      }
    }
    class Handlers {
      @UseInterceptors({ intercept: (_, next) => next.handle() } as NestInterceptor)
      @UseFilters(Rethrowing)
      @UsePipes(throwing(() => new BadRequestException('not so')))
      @OnScheduledJob(sendMail)
      send(): void {}
    }
    expect((await run([Handlers])).job).toMatchObject({ state: 'dead', reason: 'invalid-payload' });
  });
});

describe('a pipe leaves the attempt to the backoff', () => {
  it.each([
    ['where it throws a server error', () => new InternalServerErrorException('database away')],
    ['where it throws something else', () => new Error('not so')],
  ])('%s', async (_, make) => {
    const { job } = await run([handlers(throwing(make))]);
    expect(job).toMatchObject({ state: 'scheduled', attempts: 1 });
  });

  it('where a filter makes another error of what it threw, and completes the job where the filter returns', async () => {
    @Catch(BadRequestException)
    class Changing implements ExceptionFilter {
      catch(_: Error, host: ArgumentsHost): unknown {
        if (host.getArgByIndex(0) === 'forgive') return 'forgiven';
        throw new Error('the filter says no');
      }
    }
    class Handlers {
      @UseFilters(Changing)
      @UsePipes(throwing(() => new BadRequestException('not so')))
      @OnScheduledJob(sendMail)
      send(): void {}
    }
    expect((await run([Handlers])).job).toMatchObject({
      state: 'scheduled',
      failures: [{ message: 'the filter says no' }],
    });
    expect((await run([Handlers], 'forgive')).job).toMatchObject({ state: 'completed', result: 'forgiven' });
  });
});

describe('a client error fails the attempt, and no more, where it comes from', () => {
  it('the handler, though its pipes let the payload through', async () => {
    class Handlers {
      @UsePipes(OF_MAIL)
      @OnScheduledJob(sendMail)
      send(): void {
        throw new BadRequestException('the mail server says 400');
      }
    }
    const { job } = await run([Handlers], { userId: 7, email: 'a@example.com' });
    expect(job).toMatchObject({ state: 'scheduled', failures: [{ name: 'BadRequestException' }] });
  });

  it('the handler, whose pipe threw the very same error in a run before', async () => {
    const shared = new BadRequestException('one for all');
    class Either implements PipeTransform {
      transform(value: unknown): unknown {
        if (value === 'refuse') throw shared;
        return value;
      }
    }
    class Handlers {
      @UsePipes(Either)
      @OnScheduledJob(sendMail)
      send(): void {
        throw shared;
      }
    }
    const { inspector, producer } = await startApp([Handlers]);
    await producer.schedule(sendMail, 'refuse', { id: 'refused' });
    await until('it is dead', async () => (await inspector.job('refused'))!.reason === 'invalid-payload');
    await producer.schedule(sendMail, 'run', { id: 'run' });
    await until('it has failed', async () => (await inspector.job('run'))!.failures.length > 0);
    expect(await inspector.job('run')).toMatchObject({ state: 'scheduled' });
  });

  it('a handler that schedules a job with a payload that does not fit', async () => {
    class Handlers {
      @OnScheduledJob(sendMail)
      send(): void {
        throw new InvalidPayloadError('of another job', []);
      }
    }
    expect((await run([Handlers])).job).toMatchObject({
      state: 'scheduled',
      failures: [{ message: 'of another job' }],
    });
  });

  it('a guard', async () => {
    class Refusing implements CanActivate {
      canActivate(): boolean {
        return false;
      }
    }
    class Handlers {
      @UseGuards(Refusing)
      @OnScheduledJob(sendMail)
      send(): void {}
    }
    expect((await run([Handlers])).job).toMatchObject({
      state: 'scheduled',
      failures: [{ name: 'ForbiddenException' }],
    });
  });

  it('an interceptor that gives another error the form of one', async () => {
    class Mapping implements NestInterceptor {
      intercept(_: unknown, next: CallHandler) {
        return next.handle().pipe(
          catchError((error: Error) => {
            throw new BadRequestException(error.message);
          }),
        );
      }
    }
    class Handlers {
      @UseInterceptors(Mapping)
      @UsePipes(new ValidationPipe())
      @OnScheduledJob(sendMail)
      send(): void {
        throw new Error('no');
      }
    }
    expect((await run([Handlers])).job).toMatchObject({
      state: 'scheduled',
      failures: [{ name: 'BadRequestException' }],
    });
  });
});

it('a payload class refuses before any pipe does, in its own words', async () => {
  class Checked {
    @ValidateNested() mail!: Mail;
    @IsInt() count!: number;
  }
  const withClass = defineScheduledJob('checked', { payload: Checked });
  class Handlers {
    @UsePipes(new ValidationPipe())
    @OnScheduledJob(withClass)
    send(_: Checked): void {}
  }
  const { inspector, producer } = await startApp([Handlers]);
  // By its name alone, so that nothing is checked before it is stored.
  const ref = await producer.schedule('checked', { count: 'x' });
  const job = await until('it is dead', async () => {
    const found = (await inspector.job(ref))!;
    return found.state === 'dead' && found;
  });
  expect(job).toMatchObject({ reason: 'invalid-payload' });
  expect(job.failures[0]!.message).toContain('does not fit Checked');
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ArgumentMetadata,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Inject,
  Injectable,
  InternalServerErrorException,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE, REQUEST } from '@nestjs/core';
import { IsInt } from 'class-validator';
import { from, type Observable, retry, tap } from 'rxjs';
import {
  currentScheduledJob,
  defineScheduledJob,
  type InspectedJob,
  JobOutcome,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  ScheduledJob,
} from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class Row {
  @IsInt() id!: number;
}

const insertRow = defineScheduledJob('row', { payload: Row, backoff: { type: 'fixed', delayMs: '1h' } });
/** Without a class, so that only pipes look at its payloads. */
const insertAny = defineScheduledJob<unknown>('any', { backoff: { type: 'fixed', delayMs: '1h' } });
/** Long enough for all jobs of one `scheduleMany` to come together. */
const BATCH = { batch: { size: 10, waitMs: 100 } } as const;

/** What happened, in order, and the arguments of each call of a method. */
let seen: unknown[];
let calls: [payloads: unknown[], jobs: ScheduledJob[]][];

beforeEach(() => {
  seen = [];
  calls = [];
});

afterEach(stopApps);

/** Schedules these payloads at once, and answers how their jobs stand once each has been settled, in their order. */
async function run(
  providers: Provider[],
  payloads: unknown[],
  { controllers, ...options }: RedisScheduledQueueModuleOptions & { controllers?: Type[] } = {},
  job: typeof insertAny | 'row' = insertAny,
): Promise<InspectedJob[]> {
  const keep = { queues: { default: { keepCompleted: 100 } } };
  const { producer, inspector } = await startApp(providers, { ...keep, ...options }, { controllers });
  const items = payloads.map((payload, i) => ({ job: job as 'any', payload, options: { id: `${i}` } }));
  await producer.scheduleMany(items);
  return Promise.all(
    items.map(({ options: { id } }) =>
      until(`job ${id} is settled`, async () => {
        const found = await inspector.job(id);
        return found && (found.endedAt || found.failures.length > 0) ? found : undefined;
      }),
    ),
  );
}

const statesOf = (jobs: InspectedJob[]) => jobs.map(({ state }) => state);

class Looking implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const [payloads, jobs] = context.getArgs();
    seen.push(['guard', context.getType(), context.getHandler().name, payloads.length, jobs.length]);
    return true;
  }
}
class Surrounding implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    seen.push(['before', context.getArgByIndex(0).length]);
    return next.handle().pipe(tap((value) => seen.push(['after', value])));
  }
}
@Catch()
class Counting implements ExceptionFilter {
  catch(error: Error): never {
    seen.push(['filter', error.message]);
    throw error;
  }
}
class Refusing implements PipeTransform {
  transform(value: unknown, { metatype }: ArgumentMetadata): unknown {
    seen.push(['pipe', value, metatype]);
    if (value === 'bad') throw new BadRequestException('not so');
    if (value === 'away') throw new InternalServerErrorException('database away');
    if (value === 'broken') throw new TypeError('a broken pipe');
    return `piped ${value}`;
  }
}

describe('around a call with many jobs', () => {
  @Controller()
  class Rows {
    @UseGuards(Looking)
    @UseInterceptors(Surrounding)
    @UsePipes(Refusing)
    @UseFilters(Counting)
    @OnScheduledJob(insertAny, BATCH)
    insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): string {
      calls.push([payloads, jobs]);
      seen.push(['method', currentScheduledJob()]);
      return 'inserted';
    }
  }

  it.each(['provider', 'controller'])(
    'guards and interceptors run once and pipes once a payload, on a %s',
    async (kind) => {
      const [providers, controllers] = kind === 'provider' ? [[Rows], []] : [[], [Rows]];
      const jobs = await run(providers, ['a', 'b', 'c'], { controllers });
      expect(statesOf(jobs)).toEqual(['completed', 'completed', 'completed']);
      expect(jobs[0]!.result).toBeUndefined();
      expect(seen).toEqual([
        ['guard', 'scheduled-job', 'insert', 3, 3],
        ['before', 3],
        ['pipe', 'a', undefined],
        ['pipe', 'b', undefined],
        ['pipe', 'c', undefined],
        ['method', undefined],
        ['after', 'inserted'],
      ]);
      expect(calls).toHaveLength(1);
      expect(calls[0]![0]).toEqual(['piped a', 'piped b', 'piped c']);
      expect(calls[0]![1].map(({ id }) => id)).toEqual(['0', '1', '2']);
      expect(calls[0]![1].every((job) => job instanceof ScheduledJob)).toBe(true);
    },
  );

  it('a payload that a pipe refuses takes its job alone out of both lists, as a dead letter', async () => {
    const jobs = await run([Rows], ['a', 'bad', 'c']);
    expect(statesOf(jobs)).toEqual(['completed', 'dead', 'completed']);
    expect(jobs[1]).toMatchObject({
      reason: 'invalid-payload',
      attempts: 1,
      failures: [
        {
          name: 'InvalidPayloadError',
          message: "The payload of job 'any' was refused by a pipe of Rows.insert (BadRequestException, 400): not so.",
        },
      ],
    });
    expect(calls.map(([payloads, { length }]) => [payloads, length])).toEqual([[['piped a', 'piped c'], 2]]);
    expect(seen).not.toContainEqual(['filter', 'not so']);
  });

  it('anything else that a pipe throws fails the attempt of that job alone', async () => {
    const jobs = await run([Rows], ['away', 'b', 'broken']);
    expect(statesOf(jobs)).toEqual(['scheduled', 'completed', 'scheduled']);
    expect(jobs.map(({ failures }) => failures.map(({ message }) => message))).toEqual([
      ['database away'],
      [],
      ['a broken pipe'],
    ]);
    expect(calls.map(([payloads]) => payloads)).toEqual([['piped b']]);
  });

  it('where the pipes leave none, the method is not called, interceptors see no result, and no filter is asked', async () => {
    const jobs = await run([Rows], ['bad', 'broken']);
    expect(statesOf(jobs)).toEqual(['dead', 'scheduled']);
    expect(calls).toEqual([]);
    expect(seen.filter((told) => (told as unknown[])[0] !== 'pipe')).toEqual([
      ['guard', 'scheduled-job', 'insert', 2, 2],
      ['before', 2],
      ['after', undefined],
    ]);
  });

  it('an interceptor that calls the method again gets no job back that the pipes took out, nor do the pipes', async () => {
    let attempts = 0;
    class Once implements PipeTransform {
      transform(value: unknown): unknown {
        seen.push(value);
        if (value === 'b' && attempts === 0) throw new TypeError('only the first time');
        return value;
      }
    }
    class Again implements NestInterceptor {
      intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
        return next.handle().pipe(retry(1));
      }
    }
    class Retried {
      @UseInterceptors(Again)
      @UsePipes(Once)
      @OnScheduledJob(insertAny, BATCH)
      insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): void {
        calls.push([payloads, jobs]);
        if (attempts++ === 0) throw new Error('once');
      }
    }
    expect(statesOf(await run([Retried], ['a', 'b', 'c']))).toEqual(['completed', 'scheduled', 'completed']);
    expect(calls.map(([payloads]) => payloads)).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ]);
    expect(seen).toEqual(['a', 'b', 'c', 'a', 'c']);
  });
});

describe('what fails a call fails each of its jobs', () => {
  class No implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }
  class Throwing implements NestInterceptor {
    intercept(): never {
      throw new Error('of an interceptor');
    }
  }
  class Guarded {
    @UseGuards(No)
    @UsePipes(Refusing)
    @OnScheduledJob(insertAny, BATCH)
    insert(): void {}
  }
  class Intercepted {
    @UseInterceptors(Throwing)
    @UseFilters(Counting)
    @OnScheduledJob(insertAny, BATCH)
    insert(): void {}
  }
  class Failing {
    @UseFilters(Counting)
    @OnScheduledJob(insertAny, BATCH)
    insert(): never {
      throw new BadRequestException('of the method');
    }
  }

  it.each<[string, Type, string, unknown[]]>([
    ['a guard', Guarded, 'Forbidden resource', []],
    ['an interceptor', Intercepted, 'of an interceptor', [['filter', 'of an interceptor']]],
    ['the method, whose error a filter sees once', Failing, 'of the method', [['filter', 'of the method']]],
  ])('%s', async (_, handlers, message, told) => {
    const jobs = await run([handlers], ['bad', 'b']);
    expect(statesOf(jobs)).toEqual(['scheduled', 'scheduled']);
    expect(jobs.map(({ failures }) => failures[0]!.message)).toEqual([message, message]);
    expect(seen).toEqual(told);
  });

  it('where a filter returns, each is completed', async () => {
    @Catch()
    class Forgiving implements ExceptionFilter {
      catch(): string {
        return 'forgiven';
      }
    }
    class Forgiven {
      @UseFilters(Forgiving)
      @OnScheduledJob(insertAny, BATCH)
      insert(): never {
        throw new Error('no');
      }
    }
    expect(statesOf(await run([Forgiven], ['a', 'b']))).toEqual(['completed', 'completed']);
  });
});

describe('a payload class', () => {
  it('makes and validates each payload, and takes one out that does not fit before any pipe', async () => {
    class Rows {
      @UsePipes(new ValidationPipe({ transform: true, whitelist: true }))
      @OnScheduledJob(insertRow, BATCH)
      insert(rows: Row[], jobs: ScheduledJob<Row>[]): void {
        calls.push([rows, jobs]);
      }
    }
    // By its name alone, so that nothing is checked before it is stored.
    const jobs = await run([Rows], [{ id: 1, more: 'x' }, { id: 'two' }, { id: 3 }], {}, 'row');
    expect(statesOf(jobs)).toEqual(['completed', 'dead', 'completed']);
    expect(jobs[1]).toMatchObject({ reason: 'invalid-payload' });
    const [[rows]] = calls as [[Row[], unknown]];
    expect(rows).toEqual([{ id: 1 }, { id: 3 }]);
    expect(rows.every((row) => row instanceof Row)).toBe(true);
  });

  it('is the type that pipes of the application are told, whatever the signature says', async () => {
    class Rows {
      @OnScheduledJob('row', { payload: Row, ...BATCH })
      insert(rows: Row[]): void {
        calls.push([rows, []]);
      }
    }
    class Telling implements PipeTransform {
      transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
        seen.push([type, metatype]);
        return value;
      }
    }
    const options = { inheritAppConfig: true };
    await run([Rows, { provide: APP_PIPE, useClass: Telling }], [{ id: 1 }, { id: 2 }], options, 'row');
    expect(seen).toEqual([
      ['body', Row],
      ['body', Row],
    ]);
    expect(calls).toHaveLength(1);
  });
});

describe('a request-scoped handler', () => {
  let made = 0;
  beforeEach(() => {
    made = 0;
  });

  @Injectable({ scope: Scope.REQUEST })
  class Plain {
    constructor(@Inject(REQUEST) readonly jobs: ScheduledJob[]) {
      made++;
    }
    @OnScheduledJob(insertAny, BATCH)
    insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): void {
      calls.push([payloads, jobs]);
      seen.push(this.jobs.map(({ id }) => id));
    }
  }
  @Injectable({ scope: Scope.REQUEST })
  class Piped extends Plain {
    @UsePipes(Refusing)
    @OnScheduledJob(insertAny, BATCH)
    override insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): void {
      super.insert(payloads, jobs);
    }
  }

  it('is made once a call, and gets the list of its jobs', async () => {
    expect(statesOf(await run([Plain], ['a', 'b']))).toEqual(['completed', 'completed']);
    expect(made).toBe(1);
    expect(seen).toEqual([['0', '1']]);
  });

  it('gets the list with those that a pipe takes out', async () => {
    expect(statesOf(await run([Piped], ['a', 'bad']))).toEqual(['completed', 'dead']);
    expect(made).toBe(1);
    expect(seen.at(-1)).toEqual(['0', '1']);
    expect(calls.map(([payloads]) => payloads)).toEqual([['piped a']]);
  });
});

it('the last value of an Observable is the outcome of each', async () => {
  class Rows {
    @OnScheduledJob(insertAny, BATCH)
    insert(payloads: unknown[]) {
      return from([
        undefined,
        JobOutcome.each(payloads.map((payload) => (payload === 'b' ? new Error('b') : payload))),
      ]);
    }
  }
  const jobs = await run([Rows], ['a', 'b', 'c']);
  expect(statesOf(jobs)).toEqual(['completed', 'scheduled', 'completed']);
  expect(jobs.map(({ result }) => result)).toEqual(['a', undefined, 'c']);
});

it('a method may change its lists, and still settles each of its jobs', async () => {
  class Rows {
    @OnScheduledJob(insertAny, BATCH)
    insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): JobOutcome {
      jobs.length = 0;
      return JobOutcome.each(payloads.splice(0));
    }
  }
  const jobs = await run([Rows], ['a', 'b']);
  expect(jobs.map(({ state, result }) => [state, result])).toEqual([
    ['completed', 'a'],
    ['completed', 'b'],
  ]);
});

it('occurrences of recurrences come together as other jobs do', async () => {
  class Rows {
    @OnScheduledJob(insertAny, { ...BATCH, everyMs: '1s', recurrenceId: 'one', recurrencePayload: 1 })
    @OnScheduledJob(insertAny, { ...BATCH, everyMs: '1s', recurrenceId: 'two', recurrencePayload: 2 })
    insert(payloads: unknown[], jobs: ScheduledJob<unknown>[]): void {
      calls.push([payloads, jobs]);
    }
  }
  await startApp([Rows]);
  const [payloads, jobs] = await until('both come in one call', () => calls.find(([{ length }]) => length === 2));
  expect(payloads.toSorted()).toEqual([1, 2]);
  expect(new Set(jobs.map(({ recurrence }) => recurrence!.id))).toEqual(new Set(['one', 'two']));
});

describe("batch in the module's jobs", () => {
  class Rows {
    @OnScheduledJob(insertAny, { batch: { size: 2, waitMs: '1m' } })
    insert(payloads: unknown[]): void {
      calls.push([payloads, []]);
    }
  }
  class Single {
    @OnScheduledJob(insertAny)
    insert(): void {}
  }

  it('changes the size of a handler that has it', async () => {
    await run([Rows], ['a', 'b', 'c', 'd'], { jobs: { any: { batch: { size: 4 } } } });
    expect(calls.map(([payloads]) => payloads)).toEqual([['a', 'b', 'c', 'd']]);
  });

  it.each(['both', 'producer'] as const)(
    'stops the start where the handler gets one job a call, in the role %s',
    async (role) => {
      await expect(startApp([Single], { role, jobs: { any: { batch: { size: 4 } } } })).rejects.toThrow(
        "Single.insert (RootTestModule): gets one job a call, and the module's jobs['any'].batch cannot change that: expected an override of what its @OnScheduledJob says of batch. Give the decorator batch: { size }, and the method (payloads, jobs).",
      );
    },
  );

  it('says nothing to it where it is undefined', async () => {
    await startApp([Single], { jobs: { any: { batch: undefined, maxAttempts: 2 } } });
  });
});

it('a parameter decorator is refused with the parameters that there are', async () => {
  class Rows {
    @OnScheduledJob(insertAny, BATCH)
    insert(@Body() _: unknown[]): void {}
  }
  await expect(startApp([Rows])).rejects.toThrow('a handler gets (payloads, jobs) and no other parameters');
});

import { setImmediate as round } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import type { Observable } from 'rxjs';
import {
  currentScheduledJob,
  OnScheduledJob,
  ScheduledJob,
  ScheduledQueueConsumer,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const STORAGE = Symbol.for('nestjs-redis-scheduled-queue:current-job');

/** Who saw which job. */
let seen: string[] = [];
const see = (who: string) => void seen.push(`${who}: ${currentScheduledJob()?.id}`);

afterEach(async () => {
  await stopApps();
  seen = [];
});

const completed = (app: QueueApp, count: number) =>
  until(`${count} completed`, async () => (await app.inspector.stats()).completed === count);

@Injectable()
class Mailer {
  async send(): Promise<void> {
    await round();
    see('a service');
  }
}

@Injectable()
class Mails {
  constructor(private readonly mailer: Mailer) {}

  @OnScheduledJob('mail')
  async mail(): Promise<void> {
    await this.mailer.send();
    await Promise.all([round(), this.mailer.send()]);
  }
}

it('a service that is called below a handler sees the job without being given it, and each of many its own', async () => {
  const app = await startApp([Mailer, Mails]);
  const ids = Array.from({ length: 50 }, (_, i) => `j${i}`);
  await app.producer.scheduleMany(ids.map((id) => ({ job: 'mail', payload: null, options: { id } })));
  await completed(app, 50);
  expect(seen.sort()).toEqual(ids.flatMap((id) => [`a service: ${id}`, `a service: ${id}`]).sort());
  expect(currentScheduledJob()).toBeUndefined();
});

it('the current job is the one that the handler was given', async () => {
  const given: unknown[] = [];
  class Handlers {
    @OnScheduledJob('job')
    run(_: unknown, job: ScheduledJob): void {
      given.push(job, currentScheduledJob());
    }
  }
  const app = await startApp([Handlers]);
  await app.producer.dispatch('job', null);
  await completed(app, 1);
  expect(given[0]).toBeDefined();
  expect(given[1]).toBe(given[0]);
});

it('guards, interceptors and pipes see the job, and what is made anew for it', async () => {
  @Injectable()
  class Guard implements CanActivate {
    canActivate(): boolean {
      see('guard');
      return true;
    }
  }
  @Injectable()
  class Interceptor implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      see('interceptor');
      return next.handle();
    }
  }
  @Injectable()
  class Pipe implements PipeTransform {
    transform(value: unknown): unknown {
      see('pipe');
      return value;
    }
  }
  @Injectable({ scope: Scope.REQUEST })
  class Anew {
    constructor(@Inject(REQUEST) job: ScheduledJob) {
      see(`constructor for ${job.id}`);
    }

    @UseGuards(Guard)
    @UseInterceptors(Interceptor)
    @UsePipes(Pipe)
    @OnScheduledJob('job')
    async run(): Promise<void> {
      await round();
      see('handler');
    }
  }
  const app = await startApp([Anew]);
  await app.producer.dispatch('job', null, { id: 'x' });
  await completed(app, 1);
  expect(seen).toEqual(['constructor for x: x', 'guard: x', 'interceptor: x', 'pipe: x', 'handler: x']);
});

it('a popped job is not the current one', async () => {
  const app = await startApp([]);
  await app.producer.dispatch('job', null, { id: 'x' });
  const [job] = await app.get(ScheduledQueueConsumer).pop({ count: 1, waitMs: 5_000 });
  see('after the pop');
  await job!.complete();
  see('after its end');
  expect(seen).toEqual(['after the pop: undefined', 'after its end: undefined']);
});

it('what this library does for all jobs is not below the handler that beat, scheduled or popped last', async () => {
  @Injectable()
  class Busy {
    constructor(
      private readonly producer: ScheduledQueueProducer,
      private readonly consumer: ScheduledQueueConsumer,
    ) {}

    @OnScheduledJob('busy')
    async busy(): Promise<void> {
      await this.producer.dispatch('other', null);
      await currentScheduledJob()!.heartbeat();
      await this.consumer.pop({ names: ['none'], count: 1, waitMs: 20 });
      see('handler');
    }

    @OnScheduledJob('other')
    other(): void {}
  }
  const app = await startApp([Busy], { queues: { default: { leaseMs: 1_000 } } });
  app.events.events$.subscribe(({ type }) => type !== 'scheduled' && see(type));
  for (let i = 0; i < 3; i++) await app.producer.dispatch('busy', null, { id: `b${i}` });
  await completed(app, 6);
  await until('all are told', () => seen.filter((line) => line.startsWith('completed')).length === 6);
  expect(seen.filter((line) => line.startsWith('handler')).sort()).toEqual([
    'handler: b0',
    'handler: b1',
    'handler: b2',
  ]);
  expect(seen.filter((line) => !line.startsWith('handler') && !line.endsWith(': undefined'))).toEqual([]);
});

it('trackCurrentJob: false makes no storage, and no job is current', async () => {
  Reflect.deleteProperty(globalThis, STORAGE);
  const app = await startApp([Mailer, Mails], { trackCurrentJob: false });
  await app.producer.dispatch('mail', null);
  await completed(app, 1);
  expect(seen).toEqual(['a service: undefined', 'a service: undefined']);
  expect(STORAGE in globalThis).toBe(false);
});

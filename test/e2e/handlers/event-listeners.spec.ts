import { afterEach, expect, it } from '@jest/globals';
import { Controller, Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  currentScheduledJob,
  OnScheduledJob,
  OnScheduledJobEvent,
  RedisScheduledQueueModule,
  ScheduledJob,
  type ScheduledQueueEvent,
  type ScheduledQueueEventOf,
  ScheduledQueueEvents,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  @OnScheduledJob('work')
  work(): void {}

  @OnScheduledJob('work', { queue: 'other' })
  workElsewhere(): void {}

  @OnScheduledJob('fail', { maxAttempts: 1 })
  fail(): void {
    throw new Error('no');
  }

  @OnScheduledJob('progress')
  progress(_: unknown, job: ScheduledJob): void {
    job.progress(50);
  }
}

const tell = (event: ScheduledQueueEvent) => `${event.type} ${event.id}`;

afterEach(stopApps);

it('methods of providers and controllers hear the events of their types, and of no other', async () => {
  const heard: string[] = [];
  @Injectable()
  class Alerts {
    readonly name = 'alerts';

    @OnScheduledJobEvent('dead')
    onDead({ id, reason, error }: ScheduledQueueEventOf<'dead'>): void {
      heard.push(`${this.name}: ${id} ${reason} ${(error as Error).message}`);
    }
  }
  @Controller()
  class Ends {
    @OnScheduledJobEvent(['completed', 'failed'])
    onEnd(event: ScheduledQueueEventOf<'completed' | 'failed'>): void {
      heard.push(tell(event));
    }
  }
  const { producer } = await startApp([Handlers, Alerts], {}, { controllers: [Ends] });
  await producer.dispatch('work', null, { id: 'w' });
  await until('it has completed', () => heard.length === 1);
  await producer.dispatch('fail', null, { id: 'f' });
  await until('it is dead', () => heard.length === 3);
  expect(heard).toEqual(['completed w', 'failed f', 'alerts: f attempts-exhausted no']);
});

it('a listener of one queue hears nothing of another, and one that names none hears of all', async () => {
  const heard: string[] = [];
  class Listeners {
    @OnScheduledJobEvent('completed', { queue: 'other' })
    ofOne({ id }: { id: string }): void {
      heard.push(`one ${id}`);
    }

    @OnScheduledJobEvent('completed')
    ofAll({ id }: { id: string }): void {
      heard.push(`all ${id}`);
    }
  }
  const { producer } = await startApp([Handlers, Listeners]);
  await producer.dispatch('work', null, { id: 'here' });
  await until('it is heard', () => heard.length === 1);
  await producer.dispatch('work', null, { id: 'there', queue: 'other' });
  await until('the other one is heard twice', () => heard.length === 3);
  expect(heard).toEqual(['all here', 'one there', 'all there']);
});

it('a repeated decorator, an inherited listener and an alias are each heard as often as they say', async () => {
  const heard: string[] = [];
  class Base {
    @OnScheduledJobEvent('started', { queue: 'other' })
    @OnScheduledJobEvent('completed', { queue: 'default' })
    on(event: ScheduledQueueEventOf<'started' | 'completed'>): void {
      heard.push(tell(event));
    }
  }
  @Injectable()
  class Derived extends Base {}
  const { producer } = await startApp([Handlers, Derived, { provide: 'alias', useExisting: Derived }]);
  await producer.dispatch('work', null, { id: 'there', queue: 'other' });
  await until('one is heard', () => heard.length === 1);
  await producer.dispatch('work', null, { id: 'here' });
  await until('both are heard', () => heard.length === 2);
  expect(heard).toEqual(['started there', 'completed here']);
});

it('a listener hears of its own instance only', async () => {
  const heard: string[] = [];
  class Listeners {
    @OnScheduledJobEvent('scheduled', { instance: 'reports' })
    ofReports({ id }: { id: string }): void {
      heard.push(`reports ${id}`);
    }

    @OnScheduledJobEvent('scheduled')
    ofDefault({ id }: { id: string }): void {
      heard.push(`default ${id}`);
    }
  }
  const reports = RedisScheduledQueueModule.forRoot({ connection: redisUrl(), prefix: newPrefix(), name: 'reports' });
  const { app, producer } = await startApp([Listeners], {}, { imports: [reports] });
  const other = app.get<ScheduledQueueProducer>('ScheduledQueueProducer(reports)');
  await producer.dispatch('job', null, { id: 'a' });
  await other.dispatch('job', null, { id: 'b' });
  expect(heard).toEqual(['default a', 'reports b']);
});

it('a listener that throws or rejects is logged with its place, and harms no job and no other listener', async () => {
  const heard: string[] = [];
  class Bad {
    @OnScheduledJobEvent(['scheduled', 'started', 'progress', 'completed'])
    throws(): void {
      throw new TypeError('thrown');
    }

    @OnScheduledJobEvent('completed')
    async rejects(): Promise<void> {
      throw new Error('rejected');
    }
  }
  class Good {
    @OnScheduledJobEvent('completed')
    good(event: ScheduledQueueEvent): void {
      heard.push(tell(event));
    }
  }
  const current = new Set<string | undefined>();
  class LinesWithJob extends LogLines {
    override error(message: unknown, ...more: unknown[]): void {
      super.error(message, ...more);
      current.add(currentScheduledJob()?.id);
    }
  }
  const log = new LinesWithJob();
  const { producer, inspector } = await startApp([Handlers, Bad, Good], {}, { log });
  await producer.dispatch('progress', null, { id: 'p' });
  await until('it is heard', () => heard.length === 1);
  expect(await inspector.stats()).toMatchObject({ started: 1, completed: 1, failed: 0 });
  // In any order: a worker may begin a job before the call that scheduled it has its answer.
  const failures = log.lines.filter((line) => line.includes('failed with the event')).sort();
  expect(failures).toEqual([
    expect.stringContaining('Bad.rejects (RootTestModule) failed with the event'),
    ...['completed', 'progress', 'scheduled', 'started'].map((type) =>
      expect.stringContaining(
        `Bad.throws (RootTestModule) failed with the event '${type}' of job (p) of queue 'default', which harms neither the job nor other listeners: TypeError: thrown`,
      ),
    ),
  ]);
  expect([...current]).toEqual(['p']);
});

it('the queue does not wait for a listener that has not ended', async () => {
  let heard = 0;
  class Slow {
    @OnScheduledJobEvent('started')
    async onStart(): Promise<void> {
      heard++;
      await new Promise(() => {});
    }
  }
  const { producer, inspector } = await startApp([Handlers, Slow], { queues: { default: { concurrency: 1 } } });
  for (let i = 0; i < 5; i++) await producer.dispatch('work', null);
  await until('all have completed', async () => (await inspector.stats()).completed === 5);
  expect(heard).toBe(5);
});

it('a request-scoped listener is made anew for each event, which it can inject', async () => {
  const heard: string[] = [];
  let made = 0;
  @Injectable({ scope: Scope.REQUEST })
  class PerEvent {
    constructor(@Inject(REQUEST) private readonly request: ScheduledQueueEvent) {
      made++;
    }

    @OnScheduledJobEvent(['started', 'completed'])
    on(event: ScheduledQueueEvent): void {
      heard.push(`${tell(event)} ${event === this.request}`);
    }
  }
  const { producer } = await startApp([Handlers, PerEvent]);
  await producer.dispatch('work', null, { id: 'w' });
  await until('both are heard', () => heard.length === 2);
  expect(heard).toEqual(['started w true', 'completed w true']);
  expect(made).toBe(2);
});

it('a listener is below no handler, even where it hears of what a handler does', async () => {
  const heard: unknown[] = [];
  class Listener {
    @OnScheduledJobEvent('progress')
    onProgress({ value }: ScheduledQueueEventOf<'progress'>): void {
      heard.push(value, currentScheduledJob()?.id);
    }
  }
  const { producer } = await startApp([Handlers, Listener]);
  await producer.dispatch('progress', null);
  await until('it is heard', () => heard.length > 0);
  expect(heard).toEqual([50, undefined]);
});

it('a process with the role producer hears what it schedules and cancels', async () => {
  const heard: string[] = [];
  class Listener {
    @OnScheduledJobEvent(['scheduled', 'cancelled'])
    on(event: ScheduledQueueEvent): void {
      heard.push(tell(event));
    }
  }
  const { producer } = await startApp([Listener], { role: 'producer' });
  await producer.cancel(await producer.dispatch('job', null, { id: 'x' }));
  expect(heard).toEqual(['scheduled x', 'cancelled x']);
});

it('events are not made while nobody listens, and are where a method does', async () => {
  class Listener {
    @OnScheduledJobEvent('dead')
    on(): void {}
  }
  const without = await startApp([Handlers]);
  const withOne = await startApp([Handlers, Listener]);
  expect([without, withOne].map(({ app }) => app.get(ScheduledQueueEvents).wants('default'))).toEqual([false, true]);
});

it('an override without the decorator hears nothing, and the log says so', async () => {
  class Base {
    @OnScheduledJobEvent('scheduled')
    on(): void {
      throw new Error('called');
    }
  }
  class Derived extends Base {
    override on(): void {
      throw new Error('called');
    }
  }
  const log = new LogLines();
  const { producer } = await startApp([Derived], {}, { log });
  await producer.dispatch('job', null);
  expect(log.lines.filter((line) => line.includes('Derived.on'))).toEqual([
    expect.stringContaining(
      'Derived.on (RootTestModule) overrides Base.on without @OnScheduledJobEvent, so it hears no events. Repeat the decorator on the override.',
    ),
  ]);
});

const at = (method: string) => `Alerts.${method}: @OnScheduledJobEvent: `;
const as = (given: unknown) => given as never;

it.each([
  ['a misspelt type', as('ded'), undefined, `${at('on')}type: got "ded", expected one of 'scheduled'`, "mean 'dead'?"],
  ['one of several', as(['dead', 'gone']), undefined, `${at('on')}type: got "gone", expected one of`, "'deadDropped'."],
  ['no type', as(undefined), undefined, `${at('on')}type: got undefined, expected one of`, "'deadDropped'."],
  ['an empty list', as([]), undefined, `${at('on')}types: got an empty list, expected at least one of`, ''],
  ['an unknown option', 'dead' as const, as({ queu: 'a' }), `${at('on')}unknown option "queu"`, 'queue'],
  ['a queue that cannot be', 'dead' as const, { queue: 'a b' }, `${at('on')}queue: `, ''],
])('%s is refused where the class is loaded, naming class and method', (_, type, options, ...parts) => {
  const load = () => {
    class Alerts {
      @OnScheduledJobEvent(type, options)
      on(): void {}
    }
    return Alerts;
  };
  for (const part of parts) expect(load).toThrow(part);
});

it('a static method and an arrow property are refused, with what to do', () => {
  expect(() => {
    class Alerts {
      @OnScheduledJobEvent('dead')
      static on(): void {}
    }
    return Alerts;
  }).toThrow(
    "@OnScheduledJobEvent on Alerts.on: got a static method, which no provider has, expected a method of a provider or controller. Remove 'static'.",
  );
});

it('an instance that is not there stops the app at its start, naming class and method', async () => {
  class Alerts {
    @OnScheduledJobEvent('dead', { instance: 'report' })
    on(): void {}
  }
  const options = { connection: redisUrl(), prefix: newPrefix() };
  const start = async (imports: ReturnType<typeof RedisScheduledQueueModule.forRoot>[], provider: new () => object) => {
    const builder = Test.createTestingModule({ imports, providers: [provider] });
    await (await builder.setLogger(new LogLines()).compile()).init();
  };
  const both = [
    RedisScheduledQueueModule.forRoot(options),
    RedisScheduledQueueModule.forRoot({ ...options, name: 'reports' }),
  ];
  await expect(start(both, Alerts)).rejects.toThrow(
    "Alerts.on (RootTestModule): @OnScheduledJobEvent: instance: got 'report', which no RedisScheduledQueueModule of this application is named. There is: the one without a name, 'reports'. Did you mean 'reports'?",
  );
  class NamesNone {
    @OnScheduledJobEvent('dead')
    on(): void {}
  }
  await expect(start([both[1]!], NamesNone)).rejects.toThrow(
    "NamesNone.on (RootTestModule): @OnScheduledJobEvent names no instance, but each RedisScheduledQueueModule of this application has a name: 'reports'. Say whose events it hears: { instance: 'reports' }.",
  );
});

import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { InvalidOptionsError } from '../core/errors.js';
import { describe } from '../core/read/describe.js';
import { isRecord } from '../core/read/shape.js';
import { RunPhase, runPhaseIn, ScheduledQueueRunPhaseModule } from '../nest/lifecycle/run-phase.js';
import { type RedisScheduledQueueModuleOptions, readModuleOptions } from '../nest/module-options.js';
import { RedisScheduledQueueModule } from '../nest/redis-scheduled-queue.module.js';
import { LOG } from '../nest/safe-log.js';
import { Lifetime } from './lifetime.js';
import { Conductor } from './run/conductor.js';
import { Notices } from './run/notices.js';
import type { TestedInstance } from './run/tested-instance.js';
import { ScheduledQueueTester } from './scheduled-queue.tester.js';
import { CONDUCTOR, INSTANCES, OPTIONS_OF_REDIS, type StartOfTime, testProviders } from './test-providers.js';

/** Options of an application under test: every option of the real module but `connection` and `minReplicas`, and where virtual time begins. */
export interface TestingOptions extends Omit<RedisScheduledQueueModuleOptions, 'connection' | 'minReplicas'> {
  /** When virtual time begins: a Date, epoch ms, or ISO 8601 with time and `Z` or offset. Default: the time of this machine. */
  now?: StartOfTime;
}

/** Those of a module that stands in the place of the real one. */
export interface ScheduledQueueTestingModuleOptions extends TestingOptions {
  /** Whether every module can inject the services without importing this one. Default `true`. */
  isGlobal?: boolean;
  /** Tells several instances of the module apart; see `InjectScheduledQueue`. */
  name?: string;
}

/** What all instances of an application share, and what handlers under test may inject: in the place of the module that tells when handlers may run. */
@Global()
@Module({
  providers: [
    runPhaseIn(() => ScheduledQueueTesterModule),
    { provide: CONDUCTOR, useFactory: () => new Conductor(new Notices(LOG)) },
    { provide: INSTANCES, useFactory: () => [] },
    // Nest calls the hooks of what a factory makes, too.
    {
      provide: Lifetime,
      inject: [CONDUCTOR],
      useFactory: (conductor: Conductor) => new Lifetime(() => conductor.end()),
    },
    {
      provide: ScheduledQueueTester,
      inject: [CONDUCTOR, INSTANCES, Lifetime],
      useFactory: (conductor: Conductor, instances: TestedInstance[], lifetime: Lifetime) =>
        new ScheduledQueueTester(conductor, instances, lifetime),
    },
  ],
  exports: [RunPhase, CONDUCTOR, INSTANCES, ScheduledQueueTester],
})
class ScheduledQueueTesterModule {}

/**
 * Stands in a test where the application has `RedisScheduledQueueModule`: jobs lie in memory, time is virtual, and nothing runs before the
 * test says so. Get the `ScheduledQueueTester` from the application. For an application that imports the real module itself there is
 * `overrideScheduledQueue`.
 *
 * @example
 * ```ts
 * const app = await Test.createTestingModule({
 *   imports: [ScheduledQueueTestingModule.forRoot({ now: '2027-01-01T09:00:00Z' })],
 *   providers: [ReminderHandlers],
 * }).compile();
 * await app.init();
 * await app.get(ScheduledQueueTester).advance('30 days');
 * ```
 */
@Module({})
export class ScheduledQueueTestingModule {
  /** Throws `InvalidOptionsError` for an option that is none, and for `connection` and `minReplicas`. Without options virtual time begins now. */
  static forRoot(given: ScheduledQueueTestingModuleOptions = {}): DynamicModule {
    const where = 'ScheduledQueueTestingModule.forRoot';
    const { now, ...options } = refuseOptionsOfRedis(given, where);
    const real = RedisScheduledQueueModule.forRoot(options);
    return {
      ...real,
      module: ScheduledQueueTestingModule,
      imports: (real.imports ?? []).map((one) =>
        one === ScheduledQueueRunPhaseModule ? ScheduledQueueTesterModule : one,
      ),
      // Of two providers of one token the later one counts.
      providers: [...(real.providers ?? []), ...testProviders(where, now)],
    };
  }
}

/**
 * Puts memory and virtual time in the place of Redis for an application that imports the real module, by `forRoot` or `forRootAsync`,
 * every instance. Factories of options run; their `connection` is neither used nor checked. `options` are laid over the application's:
 * each in the place of its own, `undefined` for the default; `queues` and `jobs` name by name, and there option by option. Answers the
 * builder. Throws `InvalidOptionsError` for an option that is none, and for `connection` and `minReplicas`.
 *
 * @example
 * ```ts
 * const builder = Test.createTestingModule({ imports: [AppModule] });
 * const app = await overrideScheduledQueue(builder, { queues: { mail: { rateLimit: undefined } } }).compile();
 * ```
 */
export function overrideScheduledQueue(
  builder: TestingModuleBuilder,
  options: TestingOptions = {},
): TestingModuleBuilder {
  const where = 'overrideScheduledQueue';
  const { now, ...laidOver } = refuseOptionsOfRedis(options, where);
  // Refused here, where the test says it; an app is there, as the application's own may be what a laid-over option needs.
  readModuleOptions({ app: 'app', ...laidOver }, where);
  builder.overrideModule(ScheduledQueueRunPhaseModule).useModule(ScheduledQueueTesterModule);
  for (const { provide, inject, useFactory } of testProviders(where, now, laidOver))
    builder.overrideProvider(provide).useFactory({ inject: inject as never[], factory: useFactory });
  return builder;
}

function refuseOptionsOfRedis<T extends object>(given: T, where: string): T {
  if (!isRecord(given))
    throw new InvalidOptionsError(`${where}: got ${describe(given)}, expected an object of options.`);
  for (const option of OPTIONS_OF_REDIS)
    if (Object.hasOwn(given, option))
      throw new InvalidOptionsError(`${where}: unknown option "${option}": jobs lie in memory. Leave it out.`);
  return given;
}

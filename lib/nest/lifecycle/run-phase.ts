import { Module, type OnApplicationBootstrap, type OnModuleDestroy, type Provider, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Log } from '../../core/log.js';
import { LOG } from '../safe-log.js';
import { exitCodeOf, hearSecondSignal } from './second-signal.js';

/** The part of a module instance that claims and runs jobs. */
export interface Runner {
  /** Begins to claim, unless its options say otherwise. */
  begin(): Promise<void>;
  /** Stops claiming, and waits for the running jobs. */
  end(): Promise<void>;
  /** Cuts short what `end` waits for: the running jobs go back at once, and the popped ones too, as the process ends then. */
  endNow(): Promise<void>;
  /** How many running jobs `end` waits for. */
  readonly waitsFor: number;
}

/**
 * The span of the application's life in which handlers run: it begins after all `onApplicationBootstrap` hooks and ends before
 * any `onModuleDestroy`, whatever the order of imports. So a handler can rely on all that other modules open and close in these.
 */
export class RunPhase implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly runners: Runner[] = [];
  private ended?: Promise<void>;

  constructor(private readonly log: Log) {}

  add(runner: Runner): void {
    this.runners.push(runner);
  }

  async onApplicationBootstrap(): Promise<void> {
    // An application may be closed while it is still starting.
    if (this.ended) return;
    await Promise.all(this.runners.map((runner) => runner.begin()));
  }

  /** Nest calls this more than once where an application is closed twice. */
  async onModuleDestroy(): Promise<void> {
    this.ended ??= this.end();
    await this.ended;
  }

  private async end(): Promise<void> {
    const ends = Promise.all(this.runners.map((runner) => runner.end()));
    const waitsFor = this.runners.reduce((sum, runner) => sum + runner.waitsFor, 0);
    let signal: NodeJS.Signals | undefined;
    let endsNow: Promise<void> | undefined;
    const hearNoMore =
      waitsFor === 0
        ? undefined
        : hearSecondSignal((second) => {
            if (signal) process.exit(exitCodeOf(second));
            signal = second;
            endsNow = this.endNow(second);
          });
    await ends;
    await endsNow;
    hearNoMore?.();
    if (signal) process.exit(exitCodeOf(signal));
  }

  private async endNow(signal: NodeJS.Signals): Promise<void> {
    this.log.warn(`${signal} during the shutdown: running jobs go back to the queue at once, and the process ends.`);
    await Promise.all(this.runners.map((runner) => runner.endNow()));
  }
}

/** Nearer to the application than the root module, whose distance is the smallest that Nest gives. */
const NEAREST = -1;

/** The `RunPhase` of an application, for the module that this function answers: that module becomes the nearest of all. */
export function runPhaseIn(itsModule: () => Type): Provider {
  return {
    provide: RunPhase,
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer) => {
      for (const module of modules.values()) if (module.metatype === itsModule()) module.distance = NEAREST;
      return new RunPhase(LOG);
    },
  };
}

/**
 * Nest calls hooks module by module and waits for each: at start from the most distant module to the root, at shutdown the other
 * way round. A module nearer than the root is the last to start and the first to stop. Being no part of the queue's module, which
 * stays as distant as it is, it leaves the queue's services usable until the last `onApplicationShutdown`.
 */
@Module({ providers: [runPhaseIn(() => ScheduledQueueRunPhaseModule)], exports: [RunPhase] })
export class ScheduledQueueRunPhaseModule {}

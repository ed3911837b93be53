import type { Type } from '@nestjs/common';
import {
  type HandlerOptions,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledJob,
} from '../../lib/index.js';
import type { LogLines } from './log-lines.js';
import { type QueueApp, startApp } from './queue-app.js';

/** What a run of a declared recurrence was like. */
export interface Run {
  /** Of its job: "<recurrence id>@<instant>". */
  id: string;
  /** What the build that declared it wrote into the payload. */
  payload: unknown;
  /** Which build ran it. */
  build: string;
}

export interface Build {
  app: QueueApp;
  runs: Run[];
}

/** Starts an application whose handler of the job `tick` declares this. `name`: of the build, as its runs tell it. */
export async function startBuild(
  name: string,
  declared: HandlerOptions | readonly HandlerOptions[],
  options: RedisScheduledQueueModuleOptions,
  log?: LogLines,
): Promise<Build> {
  const runs: Run[] = [];
  const type = handlersOf([declared].flat() as HandlerOptions[], (job) =>
    runs.push({ id: job.id, payload: job.payload, build: name }),
  );
  return { app: await startApp([type], options, { log }), runs };
}

function handlersOf(declared: readonly HandlerOptions[], note: (job: ScheduledJob) => void): Type {
  class Handlers {
    tick(_: unknown, job: ScheduledJob): void {
      note(job);
    }
  }
  const method = Object.getOwnPropertyDescriptor(Handlers.prototype, 'tick')!;
  for (const options of declared.length > 0 ? declared : [{}])
    OnScheduledJob('tick', options)(Handlers.prototype, 'tick', method);
  return Handlers;
}

/** The instants of runs, in order. */
export function instantsOf(runs: readonly Run[], id = 'tick'): number[] {
  const own = runs.filter((run) => run.id.startsWith(`${id}@`));
  return own.map((run) => Number(run.id.slice(id.length + 1))).sort((a, b) => a - b);
}

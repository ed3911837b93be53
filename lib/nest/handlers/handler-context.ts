import { ApplicationConfig, ExternalContextCreator } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { ScheduledJob } from '../../core/job/scheduled-job.js';
import type { PayloadClass } from '../../core/payload/payload-class.js';
import type { Redaction } from '../../core/payload/redaction.js';
import type { TakeOut } from '../../worker/run/job-handler.js';
import { JOB_PARAM, PARAMS_METADATA, PAYLOAD_PARAM } from './on-scheduled-job.decorator.js';
import { PipeRefusals } from './pipe-refusal.js';

/**
 * The type of the execution context that guards, interceptors and filters see; its args are `[payload, job]`, with `batch`
 * `[payloads, jobs]`: all of the call, as they run before the pipes, which may take jobs out.
 */
export const SCHEDULED_JOB_CONTEXT = 'scheduled-job';

/** Calls a method with one job, or with `batch` with many; `takeOut` then takes out each job whose payload makes a pipe throw. */
export type Method = (payload: unknown, job: ScheduledJob | ScheduledJob[], takeOut?: TakeOut) => unknown;

const ENHANCER_METADATA = ['__guards__', '__interceptors__', '__pipes__', '__exceptionFilters__'];

/** Whether a guard, interceptor, pipe or filter stands on the method or its class. */
export function hasEnhancers(instanceType: object, method: object): boolean {
  return ENHANCER_METADATA.some((key) => Reflect.hasMetadata(key, method) || Reflect.hasMetadata(key, instanceType));
}

/** A handler may answer with an Observable, as elsewhere in Nest: its last value is the result, and an empty one has none. */
export function finished(result: unknown): unknown {
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}

/** Where a handler stands. */
export interface HandlerPlace {
  /** The token of the module that provides it. */
  moduleKey: string;
  methodName: string;
  /** The class of the job's payload, where its definition or the decorator names one. */
  payload?: PayloadClass;
  /** Whether it gets many jobs a call. */
  isBatch: boolean;
}

interface CaughtBy {
  func(exception: unknown, host: unknown): unknown;
  exceptionMetatypes: (abstract new () => unknown)[];
}

/** Puts what the pipes make of the parameters into `args`. */
type PipesRun = (args: unknown[], payload: unknown, job: ScheduledJob) => Promise<void>;

/** Ends a call whose pipes have taken all jobs out, in the place of its method. */
const NONE_LEFT = Symbol('no job is left');

/** A call of a batch handler, while it goes on. */
interface BatchCall {
  /** The class and the method, as errors name them. */
  where: string;
  takeOut: TakeOut;
  /** Those that the pipes have taken out. */
  out: Set<ScheduledJob>;
}

type Intercept = (
  interceptors: unknown,
  args: unknown[],
  instance: unknown,
  callback: unknown,
  next: () => Promise<unknown>,
  type: unknown,
) => unknown;

/** The parts of Nest's creator that have no public door. */
interface CreatorInternals {
  container: object;
  filtersContextCreator: { create(...args: unknown[]): { filters: CaughtBy[] } };
  contextUtils: { mergeParamsMetatypes(params: unknown[], types: unknown[] | undefined): unknown[] };
  getHostModuleKey(...args: unknown[]): string;
  getContextModuleKey(...args: unknown[]): string;
  createPipesFn(pipes: unknown[], ...args: unknown[]): PipesRun | null;
  interceptorsConsumer: { intercept: Intercept };
  getParamValue(value: unknown, metadata: { type: number }, pipes: unknown[]): Promise<unknown>;
  transformToResult(result: unknown): Promise<unknown>;
}

/**
 * Wraps handlers in Nest's guards, pipes, interceptors and filters. Costs some tens of microseconds a run,
 * so handlers without any are called as they are.
 */
export class HandlerContext {
  private readonly creator: ExternalContextCreator;
  private readonly internals: CreatorInternals;
  private readonly refusals: PipeRefusals;
  /** Calls with many jobs, by the list that each was given. */
  private readonly calls = new WeakMap<readonly ScheduledJob[], BatchCall>();

  constructor(appCreator: ExternalContextCreator, inheritAppConfig: boolean, redaction: Redaction) {
    this.refusals = new PipeRefusals(redaction);
    const { container } = appCreator as unknown as CreatorInternals;
    // Without the app's global enhancers: the same container, with a configuration that has none.
    const own = inheritAppConfig
      ? container
      : Object.create(container, { applicationConfig: { value: new ApplicationConfig() } });
    this.creator = ExternalContextCreator.fromContainer(own);
    this.internals = this.creator as unknown as CreatorInternals;
    this.internals.transformToResult = async (result) => finished(result);
    this.leaveJobToItself();
    this.runPipes();
    this.endEmptyCalls();
    this.honourFilters();
  }

  /** `inquirerId` is that of the handler's wrapper: transient enhancers are made for each handler. */
  wrap(instance: object, method: Method, place: HandlerPlace, inquirerId: string, contextId?: { id: number }): Method {
    this.standAt(place);
    const { refusals } = this;
    const where = `${instance.constructor?.name}.${place.methodName}`;
    const run = this.creator.create(
      instance as Record<string, unknown> as never,
      method as never,
      place.methodName,
      PARAMS_METADATA,
      {
        exchangeKeyForValue: (type: number, _data: unknown, args: unknown[]) => args[type === PAYLOAD_PARAM ? 0 : 1],
      } as never,
      contextId,
      inquirerId,
      undefined,
      SCHEDULED_JOB_CONTEXT as never,
    ) as (...parameters: Parameters<Method>) => Promise<unknown>;
    return async (payload, job, takeOut) => {
      if (Array.isArray(job)) {
        this.calls.set(job, { where, takeOut: takeOut!, out: new Set() });
        return run(payload, job);
      }
      try {
        return await run(payload, job);
      } catch (error) {
        throw refusals.judge(job, error, where);
      }
    };
  }

  /**
   * What Nest would look up by the handler's class, for the next `create`, which does not wait: the module, which it finds
   * for providers only and drops every enhancer class without; and the payload's class. A method with `batch` takes a
   * list, whose type does not tell the class of its payloads.
   */
  private standAt({ moduleKey, payload, isBatch }: HandlerPlace): void {
    const { internals } = this;
    internals.getHostModuleKey = () => moduleKey;
    internals.getContextModuleKey = () => moduleKey;
    const { mergeParamsMetatypes } = Object.getPrototypeOf(internals.contextUtils) as CreatorInternals['contextUtils'];
    internals.contextUtils.mergeParamsMetatypes = (params, types) =>
      mergeParamsMetatypes(params, payload || isBatch ? [payload, ...(types ?? []).slice(1)] : types);
  }

  /** Pipes are for the payload; a validating pipe would try to make the job anew. */
  private leaveJobToItself(): void {
    const { internals } = this;
    const original = internals.getParamValue.bind(internals);
    internals.getParamValue = (value, metadata, pipes) =>
      metadata.type === JOB_PARAM ? Promise.resolve(value) : original(value, metadata, pipes);
  }

  /**
   * Interceptors and filters see what a pipe threw as it is; only what comes out in the end is judged. With `batch` they
   * see no error of a pipe: each payload goes through the pipes by itself, and a job whose payload makes a pipe throw is taken out.
   */
  private runPipes(): void {
    const { internals, refusals } = this;
    const original = internals.createPipesFn.bind(internals);
    internals.createPipesFn = (pipes, ...made) => {
      const run = original(pipes, ...made);
      if (!run) return null;
      const runNoted: PipesRun = async (args, payload, job) => {
        try {
          await run(args, payload, job);
        } catch (error) {
          refusals.note(job, error);
          throw error;
        }
      };
      return (args, payload, job) =>
        Array.isArray(job) && pipes.length > 0
          ? this.pipeEach(runNoted, args, payload as unknown[], job)
          : runNoted(args, payload, job);
    };
  }

  private async pipeEach(run: PipesRun, args: unknown[], payloads: unknown[], jobs: ScheduledJob[]): Promise<void> {
    const { where, takeOut, out } = this.calls.get(jobs)!;
    const piped = jobs.map(async (job, i) => {
      const own: unknown[] = [];
      // An interceptor may call the method again, and with it the pipes.
      if (out.has(job)) return own;
      try {
        await run(own, payloads[i], job);
      } catch (error) {
        out.add(job);
        takeOut(job, this.refusals.judge(job, error, where));
      }
      return own;
    });
    const left = (await Promise.all(piped)).filter((_, i) => !out.has(jobs[i]!));
    if (left.length === 0) throw NONE_LEFT;
    args[0] = left.map(([payload]) => payload);
    args[1] = left.map(([, job]) => job);
  }

  /** If the pipes have taken all jobs out, interceptors see a method that returned nothing, and no filter is asked. */
  private endEmptyCalls(): void {
    const { interceptorsConsumer } = this.internals;
    const original = interceptorsConsumer.intercept.bind(interceptorsConsumer);
    interceptorsConsumer.intercept = (interceptors, args, instance, callback, next, type) =>
      original(interceptors, args, instance, callback, Array.isArray(args[1]) ? orNone(next) : next, type);
  }

  /**
   * A filter that returns completes the job, whatever it returns; Nest would take `undefined` for "not handled".
   * What no filter catches is thrown on: it is logged once, with the attempt.
   */
  private honourFilters(): void {
    const { filtersContextCreator } = this.internals;
    const create = filtersContextCreator.create.bind(filtersContextCreator);
    (filtersContextCreator as { create: unknown }).create = (...args: unknown[]) => {
      const { filters } = create(...args);
      return {
        next(exception: unknown, host: unknown) {
          const filter = filters.find(
            ({ exceptionMetatypes: types }) => types.length === 0 || types.some((type) => exception instanceof type),
          );
          if (!filter) throw exception;
          return filter.func(exception, host);
        },
      };
    };
  }
}

function orNone(next: () => Promise<unknown>): () => Promise<unknown> {
  return async () => {
    try {
      return await next();
    } catch (error) {
      if (error === NONE_LEFT) return undefined;
      throw error;
    }
  };
}

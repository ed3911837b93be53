import { ApplicationConfig, ExternalContextCreator } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { ScheduledJob } from '../../core/job/scheduled-job.js';
import type { PayloadClass } from '../../core/payload/payload-class.js';
import type { Redaction } from '../../core/payload/redaction.js';
import { JOB_PARAM, PARAMS_METADATA, PAYLOAD_PARAM } from './on-scheduled-job.decorator.js';
import { PipeRefusals } from './pipe-refusal.js';

/** The type of the execution context that guards, interceptors and filters see; its args are `[payload, job]`. */
export const SCHEDULED_JOB_CONTEXT = 'scheduled-job';

export type Method = (payload: unknown, job: ScheduledJob) => unknown;

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
}

interface CaughtBy {
  func(exception: unknown, host: unknown): unknown;
  exceptionMetatypes: (abstract new () => unknown)[];
}

/** Puts what the pipes make of the parameters into `args`. */
type PipesRun = (args: unknown[], ...parameters: Parameters<Method>) => Promise<void>;

/** The parts of Nest's creator that have no public door. */
interface CreatorInternals {
  container: object;
  filtersContextCreator: { create(...args: unknown[]): { filters: CaughtBy[] } };
  contextUtils: { mergeParamsMetatypes(params: unknown[], types: unknown[] | undefined): unknown[] };
  getHostModuleKey(...args: unknown[]): string;
  getContextModuleKey(...args: unknown[]): string;
  createPipesFn(...args: unknown[]): PipesRun | null;
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
    this.noteRefusals();
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
    return async (payload, job) => {
      try {
        return await run(payload, job);
      } catch (error) {
        throw refusals.judge(job, error, where);
      }
    };
  }

  /**
   * What Nest would look up by the handler's class, for the next `create`, which does not wait: the module, which it finds
   * for providers only and drops every enhancer class without; and the payload's class, of which a method for several jobs
   * has several.
   */
  private standAt({ moduleKey, payload }: HandlerPlace): void {
    const { internals } = this;
    internals.getHostModuleKey = () => moduleKey;
    internals.getContextModuleKey = () => moduleKey;
    const { mergeParamsMetatypes } = Object.getPrototypeOf(internals.contextUtils) as CreatorInternals['contextUtils'];
    internals.contextUtils.mergeParamsMetatypes = (params, types) =>
      mergeParamsMetatypes(params, payload ? [payload, ...(types ?? []).slice(1)] : types);
  }

  /** Pipes are for the payload; a validating pipe would try to make the job anew. */
  private leaveJobToItself(): void {
    const { internals } = this;
    const original = internals.getParamValue.bind(internals);
    internals.getParamValue = (value, metadata, pipes) =>
      metadata.type === JOB_PARAM ? Promise.resolve(value) : original(value, metadata, pipes);
  }

  /** Interceptors and filters see what a pipe threw as it is; only what comes out in the end is judged. */
  private noteRefusals(): void {
    const { internals, refusals } = this;
    const original = internals.createPipesFn.bind(internals);
    internals.createPipesFn = (...made) => {
      const run = original(...made);
      if (!run) return null;
      return async (args, payload, job) => {
        try {
          await run(args, payload, job);
        } catch (error) {
          refusals.note(job, error);
          throw error;
        }
      };
    };
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

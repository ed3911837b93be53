import { ContextIdFactory, type DiscoveryService, type MetadataScanner, ModuleRef } from '@nestjs/core';
import { lastValueFrom, isObservable } from 'rxjs';
import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS } from '../core/defaults.js';
import { InvalidOptionsError } from '../core/errors.js';
import { DEFAULT_QUEUE } from '../core/queue-options.js';
import type { ScheduledJob } from '../core/scheduled-job.js';
import type { HandlerRegistry } from '../worker/job-handler.js';
import { type HandlerContext, hasEnhancers, type Method } from './handler-context.js';
import type { ModuleSettings } from './module-options.js';
import { HANDLER_METADATA, type HandlerMark } from './on-scheduled-job.decorator.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** Where Nest keeps parameter decorators. */
const PARAMETER_METADATA = '__routeArguments__';

/** Finds the methods that carry `@OnScheduledJob` for one instance of the module, on providers and controllers. */
export class HandlerExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly context: HandlerContext,
    private readonly settings: ModuleSettings,
    private readonly instanceName: string,
  ) {}

  /** Puts every handler into the registry. Throws `DuplicateHandlerError` and `InvalidOptionsError`. */
  explore(registry: HandlerRegistry): void {
    const seen = new Set<unknown>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const prototype = prototypeOf(wrapper);
      if (!prototype) continue;
      // An alias (useExisting) is a second wrapper of the same instance; request-scoped ones have no instance of their own.
      const identity = wrapper.isDependencyTreeStatic() ? wrapper.instance : `${wrapper.id}`;
      if (wrapper.isAlias || seen.has(identity)) continue;
      seen.add(identity);
      for (const methodName of this.scanner.getAllMethodNames(prototype)) this.exploreMethod(registry, wrapper, prototype, methodName);
    }
  }

  private exploreMethod(registry: HandlerRegistry, wrapper: Wrapper, prototype: object, methodName: string): void {
    const method = (prototype as Record<string, unknown>)[methodName] as object;
    const marks: HandlerMark[] | undefined = Reflect.getMetadata(HANDLER_METADATA, method);
    for (const mark of marks ?? []) {
      if (mark.instance !== this.instanceName) continue;
      const place = placeOf(wrapper, methodName);
      refuseParameterDecorators(prototype, methodName, mark, place);
      const override = this.settings.jobs.get(mark.name);
      registry.add({
        queue: mark.queue ?? DEFAULT_QUEUE,
        name: mark.name,
        place,
        maxAttempts: override?.maxAttempts ?? mark.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
        backoff: override?.backoff ?? mark.backoff ?? DEFAULT_BACKOFF,
        payload: mark.payload,
        run: this.runner(wrapper, prototype, method as Method, methodName),
      });
    }
  }

  private runner(wrapper: Wrapper, prototype: object, method: Method, methodName: string): Method {
    const enhanced = this.settings.inheritAppConfig || hasEnhancers(prototype.constructor, method);
    if (!wrapper.isDependencyTreeStatic()) return this.scopedRunner(wrapper, method, methodName, enhanced);
    const { instance } = wrapper;
    if (enhanced) return this.context.wrap(instance, method, methodName);
    return (payload, job) => finished(method.call(instance, payload, job));
  }

  /** A request-scoped provider is made anew for each job; the job is what `@Inject(REQUEST)` gives. */
  private scopedRunner(wrapper: Wrapper, method: Method, methodName: string, enhanced: boolean): Method {
    const moduleRef: ModuleRef = wrapper.host!.providers.get(ModuleRef)!.instance as ModuleRef;
    return async (payload: unknown, job: ScheduledJob) => {
      const contextId = ContextIdFactory.getByRequest(job as unknown as Record<string, unknown>);
      moduleRef.registerRequestByContextId(job, contextId);
      const instance = await moduleRef.resolve(wrapper.token as never, contextId, { strict: false });
      const run = enhanced ? this.context.wrap(instance, method, methodName, contextId, wrapper.id) : method;
      return await finished(run.call(instance, payload, job));
    };
  }
}

/** A handler may answer with an Observable, as elsewhere in Nest: its last value is the result. */
function finished(result: unknown): unknown {
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}

function prototypeOf(wrapper: Wrapper): object | undefined {
  if (wrapper.isDependencyTreeStatic() && wrapper.instance) return Object.getPrototypeOf(wrapper.instance) ?? undefined;
  const type = wrapper.metatype as { prototype?: object } | null;
  return wrapper.inject ? undefined : (type?.prototype ?? undefined);
}

function placeOf(wrapper: Wrapper, methodName: string): string {
  const type = wrapper.instance?.constructor?.name ?? wrapper.name;
  return `${type}.${methodName} (${wrapper.host?.name ?? 'unknown module'})`;
}

function refuseParameterDecorators(prototype: object, methodName: string, mark: HandlerMark, place: string): void {
  if (!Reflect.hasMetadata(PARAMETER_METADATA, prototype.constructor, methodName)) return;
  throw new InvalidOptionsError(
    `${place}: handles job '${mark.name}' and has a parameter decorator: a handler gets (payload, job) and no other parameters. Remove the decorator.`,
    { jobName: mark.name },
  );
}

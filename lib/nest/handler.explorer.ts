import { ContextIdFactory, type DiscoveryService, type MetadataScanner, ModuleRef } from '@nestjs/core';
import { InvalidOptionsError } from '../core/errors.js';
import { DEFAULT_QUEUE } from '../core/queue-options.js';
import { resolveRunSettings } from '../core/run-settings.js';
import type { ScheduledJob } from '../core/scheduled-job.js';
import type { HandlerRegistry } from '../worker/job-handler.js';
import { finished, type HandlerContext, type HandlerPlace, hasEnhancers, type Method } from './handler-context.js';
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
    readonly instanceName: string,
  ) {}

  /** Puts every handler into the registry. Throws `DuplicateHandlerError` and `InvalidOptionsError`. */
  explore(registry: HandlerRegistry): void {
    const seen = new Set<unknown>();
    for (const wrapper of [...this.discovery.getProviders(), ...this.discovery.getControllers()]) {
      const prototype = prototypeOf(wrapper);
      if (!prototype) continue;
      // An alias (useExisting) is a second wrapper of the same instance; those made anew for each job have no instance of their own.
      const identity = isMadeAnew(wrapper) ? wrapper.id : wrapper.instance;
      if (wrapper.isAlias || seen.has(identity)) continue;
      seen.add(identity);
      for (const methodName of this.scanner.getAllMethodNames(prototype))
        this.exploreMethod(registry, wrapper, prototype, methodName);
    }
  }

  private exploreMethod(registry: HandlerRegistry, wrapper: Wrapper, prototype: object, methodName: string): void {
    const method = (prototype as Record<string, unknown>)[methodName] as object;
    const marks: HandlerMark[] | undefined = Reflect.getMetadata(HANDLER_METADATA, method);
    for (const mark of marks ?? []) {
      if (mark.instance !== this.instanceName) continue;
      const place = placeOf(wrapper, methodName);
      refuseParameterDecorators(prototype, methodName, mark, place);
      const queue = mark.queue ?? DEFAULT_QUEUE;
      const settings = resolveRunSettings(this.settings.jobs.get(mark.name), mark.own, mark.defined);
      refuseTooHeavy(settings.weight, this.settings.settingsOf(queue).concurrency, { queue, name: mark.name, place });
      registry.add({
        queue,
        name: mark.name,
        place,
        settings,
        payload: mark.payload,
        run: this.runner(wrapper, prototype, method as Method, {
          moduleKey: wrapper.host!.token,
          methodName,
          payload: mark.payload,
        }),
      });
    }
  }

  private runner(wrapper: Wrapper, prototype: object, method: Method, handler: HandlerPlace): Method {
    const enhanced = this.settings.inheritAppConfig || hasEnhancers(prototype.constructor, method);
    if (isMadeAnew(wrapper)) return this.scopedRunner(wrapper, method, handler, enhanced);
    const { instance } = wrapper;
    if (enhanced) return this.context.wrap(instance, method, handler, wrapper.id);
    return (payload, job) => finished(method.call(instance, payload, job));
  }

  /** A request-scoped provider is made anew for each job; the job is what `@Inject(REQUEST)` gives. */
  private scopedRunner(wrapper: Wrapper, method: Method, handler: HandlerPlace, enhanced: boolean): Method {
    // That of the handler's own module: another may have a provider of the same token.
    const moduleRef: ModuleRef = wrapper.host!.providers.get(ModuleRef)!.instance as ModuleRef;
    return async (payload: unknown, job: ScheduledJob) => {
      const contextId = ContextIdFactory.getByRequest(job as unknown as Record<string, unknown>);
      moduleRef.registerRequestByContextId(job, contextId);
      const instance = await moduleRef.resolve(wrapper.token as never, contextId, { strict: true });
      const run = enhanced ? this.context.wrap(instance, method, handler, wrapper.id, contextId) : method;
      return await finished(run.call(instance, payload, job));
    };
  }
}

/** Whether there is no one instance to call: Nest keeps a mere blank of request-scoped and transient providers. */
function isMadeAnew(wrapper: Wrapper): boolean {
  return !wrapper.isDependencyTreeStatic() || wrapper.isTransient;
}

function prototypeOf(wrapper: Wrapper): object | undefined {
  if (!isMadeAnew(wrapper) && wrapper.instance) return Object.getPrototypeOf(wrapper.instance) ?? undefined;
  const type = wrapper.metatype as { prototype?: object } | null;
  return wrapper.inject ? undefined : (type?.prototype ?? undefined);
}

function placeOf(wrapper: Wrapper, methodName: string): string {
  const type = wrapper.instance?.constructor?.name ?? wrapper.name;
  return `${type}.${methodName} (${wrapper.host?.name ?? 'unknown module'})`;
}

/** It would wait for room for ever, and all others behind it. */
function refuseTooHeavy(
  weight: number,
  concurrency: number,
  { queue, name, place }: { queue: string; name: string; place: string },
): void {
  if (weight <= concurrency) return;
  throw new InvalidOptionsError(
    `${place}: weight: got ${weight}, expected at most ${concurrency}, the concurrency of queue '${queue}'. Raise queues['${queue}'].concurrency, or lower the weight.`,
    { queue, jobName: name },
  );
}

function refuseParameterDecorators(prototype: object, methodName: string, mark: HandlerMark, place: string): void {
  if (!Reflect.hasMetadata(PARAMETER_METADATA, prototype.constructor, methodName)) return;
  throw new InvalidOptionsError(
    `${place}: handles job '${mark.name}' and has a parameter decorator: a handler gets (payload, job) and no other parameters. Remove the decorator.`,
    { jobName: mark.name },
  );
}

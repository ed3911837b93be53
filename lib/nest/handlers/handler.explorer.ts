import { Inject } from '@nestjs/common';
import { DiscoveryService, ExternalContextCreator, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { InvalidOptionsError } from '../../core/errors.js';
import { versionsOf } from '../../core/job/job-versions.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import { resolveRunSettings } from '../../core/options/run-settings.js';
import { nearest } from '../../core/read/describe.js';
import type { HandlerRegistry } from '../../worker/run/job-handler.js';
import { type FoundMethod, isMadeAnew, makeAnew, methodsOf, type Wrapper } from '../classes.js';
import { INSTANCE_NAME, instanceNames, requireInstance } from '../instances.js';
import type { ModuleSettings } from '../module-options.js';
import { SETTINGS } from '../tokens.js';
import type { DeclaredRecurrences } from './declared-recurrences.js';
import { finished, HandlerContext, type HandlerPlace, hasEnhancers, type Method } from './handler-context.js';
import { lostMarks } from './marked-method.js';
import { HANDLER_METADATA, type HandlerMark } from './on-scheduled-job.decorator.js';
import { type MarkedHandler, markedHandlers } from './repeated-marks.js';

/** A job whose handler was overridden, and a sentence that says so. */
interface Overridden {
  queue: string;
  name: string;
  sentence: string;
}

/** Where Nest keeps parameter decorators. */
const PARAMETER_METADATA = '__routeArguments__';

/** Finds the methods that carry `@OnScheduledJob` for one instance of the module, on providers and controllers. */
export class HandlerExplorer {
  private readonly context: HandlerContext;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(ExternalContextCreator) creator: ExternalContextCreator,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(INSTANCE_NAME) readonly instanceName: string,
  ) {
    this.context = new HandlerContext(creator, settings.inheritAppConfig, settings.redaction);
  }

  /**
   * Puts every handler into the registry, and what its decorators say of recurrences into `declared`. Answers a sentence for each job
   * that lost its handler to an override. Throws `DuplicateHandlerError`, `InvalidOptionsError` and `InvalidScheduleError`; for a mistake in a
   * handler that this process does not run, too, so that it is told before the processes that run it are deployed.
   */
  explore(registry: HandlerRegistry, declared: DeclaredRecurrences): string[] {
    const instances = instanceNames(this.modules);
    const overridden: Overridden[] = [];
    const queues = new Set<string>();
    for (const found of methodsOf(this.discovery, this.scanner)) {
      const { place } = found;
      const marks: HandlerMark[] | undefined = Reflect.getMetadata(HANDLER_METADATA, found.method);
      if (!marks) overridden.push(...this.overriddenBy(found));
      for (const { instance, name, queue = DEFAULT_QUEUE } of marks ?? []) {
        queues.add(queue);
        const where = `${place}: @OnScheduledJob('${name}')`;
        requireInstance(instances, instance, where, 'Say which one runs the handler', name);
      }
      if (marks) refuseUninjected(found);
      const own = (marks ?? []).filter(({ instance }) => instance === this.instanceName);
      for (const handler of markedHandlers(own, place)) {
        this.add(registry, handler, found);
        declared.add(handler, place);
      }
    }
    refuseUnknownQueues(this.settings.runs ?? [], queues);
    const isUnhandled = (lost: Overridden) =>
      !registry.found().some(({ queue, name }) => queue === lost.queue && name === lost.name);
    return overridden.filter(isUnhandled).map(({ sentence }) => sentence);
  }

  private add(registry: HandlerRegistry, { mark, queue }: MarkedHandler, found: FoundMethod): void {
    const { wrapper, prototype, methodName, place } = found;
    refuseParameterDecorators(prototype, methodName, mark, place);
    const { name, payload, definition, own, defined } = mark;
    const overrides = this.settings.jobs.get(name);
    if (overrides?.batch && !own.batch) refuseGivenBatch({ queue, name, place });
    const settings = resolveRunSettings(overrides, own, defined);
    // Only a worker of the queue needs to know how much may run at once.
    if (this.settings.runsQueue(queue))
      refuseTooHeavy(settings.weight, this.settings.settingsOf(queue).concurrency, { queue, name, place });
    const { batch } = settings;
    const at = { moduleKey: wrapper.host!.token, methodName, payload, isBatch: batch !== undefined };
    const run = this.runner(found, at);
    const handler = { queue, name, place, payload, versions: definition && versionsOf(definition) };
    registry.add(
      batch ? { ...handler, settings: { ...settings, batch }, runBatch: run } : { ...handler, settings, run },
    );
  }

  /** The jobs of this instance whose handler a method without the mark has taken the place of. */
  private overriddenBy({ prototype, methodName, place }: FoundMethod): Overridden[] {
    const lost = lostMarks<HandlerMark>(HANDLER_METADATA, prototype, methodName);
    return (lost?.marks ?? [])
      .filter(({ instance }) => instance === this.instanceName)
      .map(({ name, queue = DEFAULT_QUEUE }) => {
        const decorator = `@OnScheduledJob('${name}')`;
        if (lost!.isReplaced) {
          throw new InvalidOptionsError(
            `${place}: another function, such as that of a decorator above ${decorator}, has taken the place of the method, and the mark is lost. Put @OnScheduledJob and Nest's own decorators above that decorator.`,
            { queue, jobName: name },
          );
        }
        const sentence = `${place} overrides ${lost!.className}.${methodName} without ${decorator}, so no method handles this job. Repeat the decorator on the override.`;
        return { queue, name, sentence };
      });
  }

  private runner({ wrapper, prototype, method }: FoundMethod, handler: HandlerPlace): Method {
    const enhanced = this.settings.inheritAppConfig || hasEnhancers(prototype.constructor, method);
    if (isMadeAnew(wrapper)) return this.scopedRunner(wrapper, method, handler, enhanced);
    const { instance } = wrapper;
    if (enhanced) return this.context.wrap(instance, method, handler, wrapper.id);
    return (payload, job) => finished(method.call(instance, payload, job));
  }

  /**
   * A request-scoped provider is made anew for each job; the job is what `@Inject(REQUEST)` gives. With `batch` it is made anew for each
   * call, and gets the list of its jobs, before the pipes take any out.
   */
  private scopedRunner(wrapper: Wrapper, method: Method, handler: HandlerPlace, enhanced: boolean): Method {
    return async (payload, job, takeOut) => {
      const { instance, contextId } = await makeAnew(wrapper, job);
      if (!enhanced) return finished(method.call(instance, payload, job));
      return this.context.wrap(instance, method, handler, wrapper.id, contextId)(payload, job, takeOut);
    };
  }
}

/** Any of these says that Nest knows of the class, or of its parameters. The first two are those of @Injectable and @Controller. */
const KNOWN_TO_NEST = ['__injectable__', '__controller__', 'design:paramtypes', 'self:paramtypes'];

/** Nest makes such a class without any arguments, so that the handler would fail in each attempt. What a factory makes has its own. */
function refuseUninjected({ wrapper: { metatype, inject }, prototype, place }: FoundMethod): void {
  const type = prototype.constructor;
  if (inject || metatype !== type || type.length === 0) return;
  if (KNOWN_TO_NEST.some((key) => Reflect.hasMetadata(key, type))) return;
  const count = type.length === 1 ? 'a parameter' : `${type.length} parameters`;
  throw new InvalidOptionsError(
    `${place}: the constructor of ${type.name} has ${count}, and the class has no @Injectable(), so Nest would inject nothing. Put @Injectable() above the class.`,
  );
}

/** `known`: the queues that handlers of the application name, those of other instances of the module too. */
function refuseUnknownQueues(runs: readonly string[], known: ReadonlySet<string>): void {
  const unknown = runs.find((queue) => !known.has(queue));
  if (unknown === undefined) return;
  const near = nearest(unknown, [...known]);
  const there =
    known.size === 0
      ? 'No provider or controller of it has a method with @OnScheduledJob.'
      : `There is: ${[...known].map((queue) => `'${queue}'`).join(', ')}.`;
  throw new InvalidOptionsError(
    `RedisScheduledQueueModule: runs: got '${unknown}', expected queues that handlers of this application name. ${there}${near === undefined ? '' : ` Did you mean '${near}'?`}`,
    { queue: unknown },
  );
}

function refuseGivenBatch({ queue, name, place }: { queue: string; name: string; place: string }): never {
  throw new InvalidOptionsError(
    `${place}: gets one job a call, and the module's jobs['${name}'].batch cannot change that: expected an override of what its @OnScheduledJob says of batch. Give the decorator batch: { size }, and the method (payloads, jobs).`,
    { queue, jobName: name },
  );
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
  const parameters = mark.own.batch ? '(payloads, jobs)' : '(payload, job)';
  throw new InvalidOptionsError(
    `${place}: handles job '${mark.name}' and has a parameter decorator: a handler gets ${parameters} and no other parameters. Remove the decorator.`,
    { jobName: mark.name },
  );
}

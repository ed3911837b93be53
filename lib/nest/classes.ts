import { type ContextId, ContextIdFactory, type DiscoveryService, ModuleRef } from '@nestjs/core';

export type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A provider or controller of the application. */
export interface FoundClass {
  wrapper: Wrapper;
  prototype: object;
}

/** The providers and controllers of the application whose class is known, each once. */
export function* classesOf(discovery: DiscoveryService): Generator<FoundClass> {
  const seen = new Set<unknown>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const prototype = prototypeOf(wrapper);
    if (!prototype) continue;
    // An alias (useExisting) is a second wrapper of the same instance; those made anew for each job have no instance of their own.
    const identity = isMadeAnew(wrapper) ? wrapper.id : wrapper.instance;
    if (wrapper.isAlias || seen.has(identity)) continue;
    seen.add(identity);
    yield { wrapper, prototype };
  }
}

/** Whether there is no one instance to call: Nest keeps a mere blank of request-scoped and transient providers. */
export function isMadeAnew(wrapper: Wrapper): boolean {
  return !wrapper.isDependencyTreeStatic() || wrapper.isTransient;
}

/** Makes what is made anew; `request` is what `@Inject(REQUEST)` gives. */
export async function makeAnew(wrapper: Wrapper, request: object): Promise<{ instance: object; contextId: ContextId }> {
  // That of the class's own module: another may have a provider of the same token.
  const moduleRef = wrapper.host!.providers.get(ModuleRef)!.instance as ModuleRef;
  const contextId = ContextIdFactory.getByRequest(request as Record<string, unknown>);
  moduleRef.registerRequestByContextId(request, contextId);
  return { instance: await moduleRef.resolve(wrapper.token as never, contextId, { strict: true }), contextId };
}

/** Where a method stands, such as `ReminderHandlers.send (RemindersModule)`. */
export function placeOf(wrapper: Wrapper, methodName: string): string {
  const type = wrapper.instance?.constructor?.name ?? wrapper.name;
  return `${type}.${methodName} (${wrapper.host?.name ?? 'unknown module'})`;
}

function prototypeOf(wrapper: Wrapper): object | undefined {
  if (!isMadeAnew(wrapper) && wrapper.instance) return Object.getPrototypeOf(wrapper.instance) ?? undefined;
  // Of what a factory makes anew for each job nothing is known before but its token, which may be its class.
  const type = wrapper.inject ? wrapper.token : wrapper.metatype;
  return typeof type === 'function' ? type.prototype : undefined;
}

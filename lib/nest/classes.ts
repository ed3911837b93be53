import { type ContextId, ContextIdFactory, type DiscoveryService, type MetadataScanner, ModuleRef } from '@nestjs/core';

export type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A method of a provider or controller of the application. */
export interface FoundMethod {
  wrapper: Wrapper;
  prototype: object;
  methodName: string;
  method: (...given: unknown[]) => unknown;
  /** Where it stands, such as `ReminderHandlers.send (RemindersModule)`. */
  place: string;
}

/** The methods of providers and controllers whose class is known, each class once. */
export function* methodsOf(discovery: DiscoveryService, scanner: MetadataScanner): Generator<FoundMethod> {
  const seen = new Set<unknown>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const prototype = prototypeOf(wrapper);
    if (!prototype) continue;
    // An alias (useExisting) is a second wrapper of the same instance; those made anew for each job have no instance of their own.
    const identity = isMadeAnew(wrapper) ? wrapper.id : wrapper.instance;
    if (wrapper.isAlias || seen.has(identity)) continue;
    seen.add(identity);
    for (const methodName of scanner.getAllMethodNames(prototype)) {
      const method = (prototype as Record<string, unknown>)[methodName] as FoundMethod['method'];
      yield { wrapper, prototype, methodName, method, place: placeOf(wrapper, methodName) };
    }
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

function placeOf(wrapper: Wrapper, methodName: string): string {
  const type = wrapper.instance?.constructor?.name ?? wrapper.name;
  return `${type}.${methodName} (${wrapper.host?.name ?? 'unknown module'})`;
}

function prototypeOf(wrapper: Wrapper): object | undefined {
  if (!isMadeAnew(wrapper) && wrapper.instance) return Object.getPrototypeOf(wrapper.instance) ?? undefined;
  // Of what a factory makes anew for each job nothing is known before but its token, which may be its class.
  const type = wrapper.inject ? wrapper.token : wrapper.metatype;
  return typeof type === 'function' ? type.prototype : undefined;
}

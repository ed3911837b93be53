/**
 * Lets a signal say that it has aborted before its event is told. A handler that looks at its signal at once sees the abort, and one
 * that only listens hears of it: a listener that is added to a signal whose event is over would wait for ever. Answers how to take that
 * back, for the moment of the event.
 */
export function announceAbort(signal: AbortSignal, reason: Error): () => void {
  const told: PropertyDescriptorMap = {
    aborted: { value: true, configurable: true },
    reason: { value: reason, configurable: true },
    throwIfAborted: {
      value: () => {
        throw reason;
      },
      configurable: true,
    },
  };
  Object.defineProperties(signal, told);
  return () => {
    for (const name of Object.keys(told)) Reflect.deleteProperty(signal, name);
  };
}

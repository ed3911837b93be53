/** What the promise resolves to; `undefined` where it rejects, or takes longer than that. */
export function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    const settle = (value?: T) => {
      clearTimeout(timer);
      resolve(value);
    };
    promise.then(settle, () => settle());
  });
}

import { InvalidOptionsError } from '../../core/errors.js';

/**
 * The method that a decorator stands on. Throws `InvalidOptionsError` for anything else: the explorer looks for methods of
 * providers, so a static method or an arrow function would never be called.
 */
export function methodOf(
  decorator: string,
  jobName: string | undefined,
  target: object,
  key: unknown,
  descriptor: unknown,
): object {
  const { got, remedy } = misplaced(target, key, descriptor) ?? {};
  if (!got) return (descriptor as { value: object }).value;
  const place = placeOf(target, key);
  throw new InvalidOptionsError(
    `${decorator} on ${place}: got ${got}, expected a method of a provider or controller. ${remedy}`,
    { jobName },
  );
}

/** The class and the method that a decorator stands on. */
export function placeOf(target: object, key: unknown): string {
  // Standard decorators do not know the class.
  if (typeof key === 'object' && key !== null) return String((key as { name?: unknown }).name);
  const type = typeof target === 'function' ? target.name : target.constructor?.name;
  return key === undefined ? type : `${type}.${String(key)}`;
}

function misplaced(target: object, key: unknown, descriptor: unknown): { got: string; remedy: string } | undefined {
  // Standard decorators get the method itself and a context.
  if (typeof key === 'object' && key !== null) {
    return {
      got: 'the call of a standard decorator',
      remedy: `Set "experimentalDecorators": true in the compiler's options, as Nest's own decorators need.`,
    };
  }
  if (typeof descriptor === 'number') return { got: 'a parameter', remedy: 'Put it above the method.' };
  if (key === undefined) return { got: 'a class', remedy: 'Put it above one of its methods.' };
  const { value, get, set } = (descriptor ?? {}) as PropertyDescriptor;
  const isMethod = typeof value === 'function';
  if (typeof target === 'function') {
    const kind = isMethod ? 'method' : 'property';
    return { got: `a static ${kind}, which no provider has`, remedy: `Remove 'static'.` };
  }
  if (get ?? set) return { got: 'an accessor', remedy: 'Make it a method.' };
  if (!isMethod) {
    const name = String(key);
    return { got: 'a property', remedy: `Write ${name}(…) { … } instead of ${name} = (…) => { … }.` };
  }
  // Nest's scanner of methods goes by their names.
  if (typeof key === 'symbol') return { got: 'a method without a name', remedy: 'Give it one instead of the symbol.' };
  return undefined;
}

/** Adds a mark to a method. Notes on the class, too, that the method is marked: another function in its place carries no mark. */
export function addMark(metadata: string, mark: object, method: object, target: object, key: string | symbol): void {
  const marks = [...(Reflect.getOwnMetadata(metadata, method) ?? []), mark];
  Reflect.defineMetadata(metadata, marks, method);
  Reflect.defineMetadata(metadata, marks, target, key);
}

/** The marks of a method that another one without any has taken the place of. */
export interface LostMarks<Mark> {
  marks: readonly Mark[];
  /** The class whose method was marked. */
  className: string;
  /** The class itself has another function by now, such as one that a decorator has put there; else a subclass overrides it. */
  isReplaced: boolean;
}

/** For a method that carries no marks itself. */
export function lostMarks<Mark>(metadata: string, prototype: object, methodName: string): LostMarks<Mark> | undefined {
  const marks: readonly Mark[] | undefined = Reflect.getMetadata(metadata, prototype, methodName);
  if (!marks) return undefined;
  let marked: object | null = prototype;
  while (marked && !Reflect.hasOwnMetadata(metadata, marked, methodName)) marked = Object.getPrototypeOf(marked);
  const methodIn = (from: object | null) => (from as Record<string, unknown> | null)?.[methodName];
  return {
    marks,
    className: marked?.constructor.name ?? '',
    isReplaced: methodIn(marked) === methodIn(prototype),
  };
}

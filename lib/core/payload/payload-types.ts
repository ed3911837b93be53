// The types of payloads: as they are sent, and as they arrive.

type Callable = (...args: never[]) => unknown;

/** Told apart before objects, as a branded string (`string & { … }`) is both. */
type Scalar = string | number | boolean | null | undefined;

/** A payload as it is sent: `T` without its methods, at any depth, so that a plain object literal fits a class. */
export type PayloadOf<T> = T extends Scalar | Date
  ? T
  : T extends readonly unknown[]
    ? { [I in keyof T]: PayloadOf<T[I]> }
    : T extends object
      ? { [K in keyof T as T[K] extends Callable ? never : K]: PayloadOf<T[K]> }
      : T;

/** Objects that JSON writes as `{}`. They are refused when a job is scheduled. */
type EmptiedByJson =
  | ReadonlyMap<never, unknown>
  | ReadonlySet<unknown>
  | WeakMap<never, unknown>
  | WeakSet<never>
  | Promise<unknown>
  | RegExp;

/** How deep a payload's type is followed; deeper parts keep their own type. Without this bound the compiler gives up on some recursive types. */
type Levels = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/** The levels that are left. */
type Below<Left extends unknown[]> = Left extends [unknown, ...infer Rest] ? Rest : [];

/** Symbols, functions and what is only ever `undefined` are left out of JSON. */
type KeptKey<T, K extends keyof T> = K extends symbol
  ? never
  : [Exclude<T[K], undefined>] extends [never]
    ? K
    : Exclude<T[K], undefined> extends Callable | symbol
      ? never
      : K;

/** JSON leaves some values out of an object; in a list it writes `null` for them. */
type Listed<T> = T extends undefined | symbol | Callable ? null : T;

/**
 * What JSON makes of `T`: a `Date` arrives as a string, anything else with `toJSON` as what that answers, and methods do not arrive at
 * all. It is the type that a handler gets from a definition without a payload class.
 */
export type JsonOf<T, Left extends unknown[] = Levels> = unknown extends T
  ? T
  : Left extends []
    ? T
    : // biome-ignore lint/suspicious/noConfusingVoidType: it is what users write
      T extends Scalar | void
      ? T
      : T extends bigint | symbol | Callable
        ? never
        : T extends { toJSON(...key: never[]): infer Written }
          ? JsonOf<Written, Below<Left>>
          : T extends EmptiedByJson
            ? Record<string, never>
            : T extends readonly unknown[]
              ? { [I in keyof T]: JsonOf<Listed<T[I]>, Below<Left>> }
              : { [K in keyof T as KeptKey<T, K>]: JsonOf<T[K], Below<Left>> };

/** How a handler gets a payload: as an instance of the definition's class, or, without a class, as plain JSON. */
export type PayloadForm = 'instance' | 'json';

/**
 * What a handler gets. A job of `void` hands over `undefined`; `any` extends `void` as well, and stays what it is. Where nobody
 * knows whether the definition has a class, it is taken for one that has.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: it is what users write
export type ReceivedPayload<T, Form extends PayloadForm> = [T] extends [void]
  ? unknown extends T
    ? T
    : undefined
  : [Form] extends ['json']
    ? JsonOf<T>
    : T;

/** The payload of a job among others, as for `schedule`: a job of `void` has none, any other must be given its own. */
// biome-ignore lint/suspicious/noConfusingVoidType: it is what users write
export type ItemPayload<T> = [T] extends [void]
  ? unknown extends T
    ? { payload: T }
    : { payload?: undefined }
  : { payload: PayloadOf<T> };

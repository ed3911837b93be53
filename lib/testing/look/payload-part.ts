/** A matcher of a test runner, such as `expect.any(String)`. */
interface Matcher {
  asymmetricMatch(value: never): boolean;
}

/**
 * A part of a payload, as a test expects it: at any depth, properties may be left out and matchers may stand. A Date, and whatever else
 * has `toJSON`, may be given as it was sent or as JSON writes it.
 */
export type PayloadPart<T> = unknown extends T ? unknown : Matcher | PartOf<T>;

type PartOf<T> = T extends void
  ? null | undefined
  : T extends string | number | boolean | bigint | symbol | null
    ? T
    : T extends { toJSON(...key: never[]): infer Written }
      ? T | Written
      : T extends readonly unknown[]
        ? { [I in keyof T]: PayloadPart<T[I]> }
        : { [K in keyof T as T[K] extends (...args: never[]) => unknown ? never : K]?: PayloadPart<T[K]> };

/** Types that an encoder writes as `{}`, be it with properties of a subclass. */
const EMPTIED = [Map, Set, WeakMap, WeakSet, Promise, RegExp, Error];

/** Tags of objects that are not refused for having no properties: plain ones, and boxed values, which JSON writes as their value. */
const NOT_EMPTIED = /^\[object (Object|Arguments|Number|String|Boolean|BigInt)\]$/;

/**
 * Whether an object keeps its content where no encoder of properties finds it, as a Map, a Blob or a WeakRef does. It would arrive as `{}`.
 * Such a value was most likely sent by mistake: a promise without `await`, for example. It must not be an array or have a `toJSON`.
 */
export function isEmptied(value: object): boolean {
  if (ArrayBuffer.isView(value) || EMPTIED.some((type) => value instanceof type)) return true;
  return !NOT_EMPTIED.test(Object.prototype.toString.call(value)) && Object.keys(value).length === 0;
}

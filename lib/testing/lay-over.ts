import { isRecord } from '../core/read/shape.js';

type Options = Record<string, unknown>;

/** Options that are given by names of queues or jobs. */
const BY_NAME = ['queues', 'jobs'];

/**
 * Options of a test laid over those of the application: each in the place of the application's own, `undefined` for the default; of a queue or a
 * job that both name, option by option. What cannot be laid over is left to whoever reads the options.
 */
export function layOver(own: unknown, over: object): unknown {
  if (!isRecord(own)) return own;
  const below = own as Options;
  const laid: Options = { ...below, ...over };
  for (const option of BY_NAME)
    if (Object.hasOwn(over, option))
      laid[option] = each(below[option], laid[option], (a, b) => each(a, b, (_, c) => c));
  return laid;
}

/** Of two records, one with what `merge` makes of each entry of the upper one; the upper one alone where they are none. */
function each(below: unknown, above: unknown, merge: (below: unknown, above: unknown) => unknown): unknown {
  if (!isRecord(below) || !isRecord(above)) return above;
  const laid: Options = { ...below };
  for (const [name, value] of Object.entries(above)) laid[name] = merge(laid[name], value);
  return laid;
}

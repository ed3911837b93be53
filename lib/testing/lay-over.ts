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
    if (Object.hasOwn(over, option)) laid[option] = mergeByName(below[option], laid[option], optionByOption);
  return laid;
}

function optionByOption(below: unknown, above: unknown): unknown {
  return mergeByName(below, above, (_, upper) => upper);
}

/** Both records by name; `merge` joins what both have. If either is no record, `above` replaces `below`. */
function mergeByName(below: unknown, above: unknown, merge: (below: unknown, above: unknown) => unknown): unknown {
  if (!isRecord(below) || !isRecord(above)) return above;
  const laid: Options = { ...below };
  for (const [name, value] of Object.entries(above)) laid[name] = merge(laid[name], value);
  return laid;
}

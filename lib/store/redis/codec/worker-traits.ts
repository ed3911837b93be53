import { VERSION } from '../../../core/version.js';

/** What others can tell of a session by its member of `workers`. */
export interface WorkerTraits {
  version: string;
  /** What weight of jobs it runs at once; 0 where it runs none by itself, as a pull or a relay. */
  concurrency: number;
  /** Of the names whose runs weigh more than 1. */
  weights: ReadonlyMap<string, number>;
}

/**
 * "<version>,<concurrency>" and, a comma before each, "<index of a name>*<weight>": the index among the session's names in order, which its
 * group has in `handles:<group>`.
 */
export function encodeTraits(
  concurrency: number,
  names: readonly string[],
  weights?: ReadonlyMap<string, number>,
): string {
  const heavy = [...names].sort().flatMap((name, index) => {
    const weight = weights?.get(name) ?? 1;
    return weight === 1 ? [] : [`${index}*${weight}`];
  });
  return [VERSION, concurrency, ...heavy].join(',');
}

export function decodeTraits(text: string, names: readonly string[]): WorkerTraits {
  const [version = '', concurrency, ...heavy] = text.split(',');
  const sorted = [...names].sort();
  const weights = heavy.map((each): [string, number] => {
    const [index, weight] = each.split('*').map(Number);
    return [sorted[index!] ?? '', weight!];
  });
  return { version, concurrency: Number(concurrency) || 0, weights: new Map(weights) };
}

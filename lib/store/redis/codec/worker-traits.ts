import { VERSION } from '../../../core/version.js';
import type { CallSize } from '../../call-size.js';
import type { StuckSince } from '../../job-store.js';
import { withoutVersions } from './versioned-name.js';

/** What others can tell of a session by its member of `workers`. */
export interface WorkerTraits {
  version: string;
  /** What weight of jobs it runs at once; 0 where it runs none by itself, as a pull or a relay. */
  concurrency: number;
  /** Of the names whose calls weigh more than 1 or get several jobs. */
  calls: ReadonlyMap<string, CallSize>;
  /** The digest of its options, see listed-options.ts. Missing if its version lists none. */
  optionsDigest?: string;
  stuck?: StuckSince;
}

const ONE: CallSize = { weight: 1, size: 1 };

/** What begins the trait of its options. The scripts know it. */
const OPTIONS = '#';
/** What begins the trait of stuck handlers. */
const STUCK = '!';

/**
 * "<version>,<concurrency>,#<digest of its options>" and, a comma before each, "<index of a name>*<weight>" or "<index of a name>*<weight>*<jobs
 * a call>": the index in the sorted list of the session's names, without their versions, which its crew has in `handles:<crew>`. While handlers are stuck, the text of `encodeStuck` follows.
 */
export function encodeTraits(
  optionsDigest: string,
  concurrency: number,
  names: readonly string[],
  calls?: ReadonlyMap<string, CallSize>,
): string {
  const heavy = sorted(names).flatMap((name, index) => {
    const { weight, size } = calls?.get(name) ?? ONE;
    if (size > 1) return [`${index}*${weight}*${size}`];
    return weight === 1 ? [] : [`${index}*${weight}`];
  });
  return [VERSION, concurrency, OPTIONS + optionsDigest, ...heavy].join(',');
}

/** ",!<count>*<weight>*<since when, epoch ms>*<index of the name>*<job id>". */
export function encodeStuck({ count, weight, sinceMs, name, id }: StuckSince, names: readonly string[]): string {
  const index = sorted(names).indexOf(name);
  return `,${STUCK}${[count, weight, sinceMs, index, encodeURIComponent(id)].join('*')}`;
}

export function decodeTraits(text: string, names: readonly string[]): WorkerTraits {
  const [version = '', concurrency, ...others] = text.split(',');
  const listed = sorted(names);
  const stuck = others.find((each) => each.startsWith(STUCK));
  const options = others.find((each) => each.startsWith(OPTIONS));
  const heavy = others.filter((each) => each !== stuck && each !== options);
  const calls = heavy.map((each): [string, CallSize] => {
    const [index, weight = 1, size = 1] = each.split('*').map(Number);
    return [listed[index!] ?? '', { weight, size }];
  });
  return {
    version,
    concurrency: Number(concurrency) || 0,
    calls: new Map(calls),
    optionsDigest: options?.slice(OPTIONS.length),
    stuck: stuck === undefined ? undefined : decodeStuck(stuck.slice(STUCK.length), listed),
  };
}

const sorted = (names: readonly string[]) => withoutVersions(names).sort();

function decodeStuck(text: string, names: readonly string[]): StuckSince {
  // An id may have a '*' of its own.
  const [count, weight, sinceMs, index, ...id] = text.split('*');
  return {
    count: Number(count),
    weight: Number(weight),
    id: decodeURIComponent(id.join('*')),
    name: names[Number(index)] ?? '',
    sinceMs: Number(sinceMs),
  };
}

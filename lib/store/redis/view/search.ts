import type { FoundJobs, JobSelection, SearchStep, StoredJob } from '../../job-store.js';
import { setTag } from '../codec/envelope-text.js';
import { encodeGroup } from '../codec/group-text.js';
import type { QueueKeys } from '../keys.js';
import type { QueueLink } from '../link/queue-link.js';
import { textOf } from '../link/send-script.js';
import { ask } from '../scripts/bound-script.js';
import { findScript } from '../scripts/look/contract.js';
import { jobFromBytes, type KnownJob, readJob } from './stored-job.js';

/** After how many bytes one call reads no further job, so that it takes Redis no more than 1 to 4 ms. */
const BYTES_A_CALL = 1024 * 1024;
/** How many jobs one call looks at that another one has found: each costs Redis up to 5 µs. */
const FOUND_A_CALL = 80;

/**
 * Where a search stands: in which of its walks, where in that, which jobs that were found have still to be told, and which of those that
 * were found may be met again.
 */
type Place = [walk: number, from: string, left: readonly string[], met: readonly string[]];

/**
 * Finds jobs by what is known of them, in short calls that read. A search walks through the smallest sets that hold all it wants: the
 * members of its set, the jobs of its rarest tag, the dead or the active jobs, else all jobs that have not ended; and then, if it wants them, through the completed
 * ones. In that order, as jobs go from the first to the last.
 */
export class RedisSearch {
  constructor(
    private readonly connection: QueueLink,
    private readonly keys: QueueKeys,
    private readonly commandTimeoutMs: number,
  ) {}

  async find(selection: JobSelection, place: string | undefined, { size, limit }: SearchStep): Promise<FoundJobs> {
    const walks = walksOf(selection);
    const [walk, from, left, met] = place === undefined ? START : readPlace(place, walks, selection);
    const asked = left.slice(0, FOUND_A_CALL);
    const args = {
      base: this.keys.base,
      walk: asked.length > 0 ? 'ids' : walks[walk]!,
      from: asked.length > 0 ? '' : from,
      size: asked.length > 0 ? asked.length : size,
      limit,
      bytesLeft: BYTES_A_CALL,
      states: selection.states.join(','),
      idPrefix: selection.idPrefix ?? '',
      names: selection.names?.join('\n') ?? '',
      tags: tagsOf(selection).join('\t'),
      group: encodeGroup(selection.group ?? ''),
      dueFrom: selection.dueFromMs ?? 0,
      dueTo: selection.dueToMs ?? Number.MAX_SAFE_INTEGER,
      ids: asked,
    };
    const giveUpAt = this.connection.now() + this.commandTimeoutMs;
    const reply = await ask(this.connection, findScript(this.keys), args, giveUpAt, { fromBytes: foundFromBytes });
    const [goOn, looked, bytes, untold, ...rows] = reply;
    if (asked.length > 0) {
      const next = placeAfter([walk, from, [...untold, ...left.slice(asked.length)], met], walks);
      return found(rows, next, looked, bytes);
    }
    const isNew = (id: string) => !met.includes(id);
    const told = rows.filter(([id]) => isNew(id!));
    const leftNow = untold.filter(isNew);
    const mayComeAgain = UNSAFE.test(goOn) ? [...met, ...told.map(([id]) => id!), ...leftNow] : [];
    return found(told, placeAfter([walk, goOn, leftNow, mayComeAgain], walks, goOn === ''), looked, bytes);
  }
}

const START: Place = [0, '', [], []];

/** A place in a walk that may come to the same jobs again (see scripts/look/find/scan.lua). */
const UNSAFE = /^\d+~$/;

function found(rows: readonly string[][], next: Place | undefined, looked: string, bytes: string): FoundJobs {
  return {
    jobs: rows.map(readRow),
    ...(next && { next: JSON.stringify(next) }),
    looked: Number(looked),
    bytes: Number(bytes),
  };
}

function walksOf(selection: JobSelection): string[] {
  const { states, set } = selection;
  // The index of a set holds its pending members, and lacks the dead ones.
  const isApart = (state: string) => state === 'completed' || (set !== undefined && state === 'dead');
  const others = states.filter((state) => !isApart(state));
  const isOnly = (state: string) => others.every((each) => each === state);
  const first =
    set !== undefined
      ? 'members'
      : tagsOf(selection).length > 0
        ? 'tagged'
        : isOnly('dead')
          ? 'dead'
          : isOnly('active')
            ? 'active'
            : 'jobs';
  const apart = ['dead', 'completed'].filter((state) => isApart(state) && states.some((each) => each === state));
  return [...(others.length > 0 ? [first] : []), ...apart];
}

/** A set stands among the tags, and first. */
function tagsOf({ set, tags = [] }: JobSelection): readonly string[] {
  return set === undefined ? tags : [setTag(set), ...tags];
}

/** `undefined` where nothing is left. The place in a walk that is over is the start of the next walk. */
function placeAfter(
  [walk, from, left, met]: Place,
  walks: readonly string[],
  isOver = walk === walks.length,
): Place | undefined {
  if (!isOver) return [walk, from, left, met];
  const next = Math.min(walk + 1, walks.length);
  return next === walks.length && left.length === 0 ? undefined : [next, '', left, []];
}

/** Whoever calls may have changed it. */
function readPlace(text: string, walks: readonly string[], selection: JobSelection): Place {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {}
  const [walk, from, left, met] = Array.isArray(read) ? (read as unknown[]) : [];
  if (typeof walk !== 'number' || typeof from !== 'string' || !isTexts(left) || !isTexts(met))
    throw new RangeError(NO_PLACE);
  const isKnown = walk === walks.length ? from === '' && left.length > 0 : walks[walk] !== undefined;
  const isPlace = from === '' || (FORMS[walks[walk]!] ?? BY_SCORE).test(from);
  const hasTag = walks[walk] !== 'tagged' || tagsOf(selection)[Number.parseInt(from || '1', 10) - 1] !== undefined;
  if (!isKnown || !isPlace || !hasTag) throw new RangeError(NO_PLACE);
  return [walk, from, left, met];
}

const BY_CURSOR = /^\d+~?$/;
const BY_SCORE = /^\d+ .+$/s;
/** The places of each walk; those of the others are by score. */
const FORMS: Record<string, RegExp> = {
  jobs: BY_CURSOR,
  active: BY_CURSOR,
  members: BY_CURSOR,
  tagged: /^\d+ \d+ .+$/s,
};

const NO_PLACE = 'no place of a search';
const isTexts = (given: unknown): given is string[] =>
  Array.isArray(given) && given.every((each) => typeof each === 'string');

function readRow([id, ...known]: string[]): StoredJob {
  return readJob(id!, known as unknown as KnownJob)!;
}

function foundFromBytes(reply: unknown): unknown {
  const [goOn, looked, bytes, left, ...rows] = reply as unknown[];
  const texts = [textOf(goOn), textOf(looked), textOf(bytes), (left as unknown[]).map(textOf)];
  return [
    ...texts,
    ...(rows as unknown[][]).map(([id, ...known]) => [textOf(id), ...(jobFromBytes(known) as unknown[])]),
  ];
}

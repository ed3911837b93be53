import { ReplyError } from './reply.js';
import { SortedSet } from './sorted-set.js';
import { Stream } from './stream.js';
import { Walks } from './walks.js';

/** What a key may hold, by the name that TYPE says. */
interface Values {
  string: { text: string };
  hash: Map<string, string>;
  set: Set<string>;
  zset: SortedSet;
  list: string[];
  stream: Stream;
}

export type Kind = keyof Values;

const NEW: { [K in Kind]: () => Values[K] } = {
  string: () => ({ text: '' }),
  hash: () => new Map(),
  set: () => new Set(),
  zset: () => new SortedSet(),
  list: () => [],
  stream: () => new Stream(),
};

const NEVER = Number.POSITIVE_INFINITY;

interface Entry {
  readonly kind: Kind;
  readonly value: Values[Kind];
  /** Epoch ms. */
  expiresAt: number;
}

/** The keys of one database, with what they hold and until when. */
export class Keyspace {
  readonly walks = new Walks();
  private readonly entries = new Map<string, Entry>();

  /** `now`: the time of Redis, epoch ms and fractions. */
  constructor(readonly now: () => number) {}

  kindOf(key: string): Kind | undefined {
    return this.entryOf(key)?.kind;
  }

  /** Throws where the key holds something of another kind. */
  find<K extends Kind>(key: string, kind: K): Values[K] | undefined {
    const entry = this.entryOf(key);
    if (entry !== undefined && entry.kind !== kind)
      throw new ReplyError('WRONGTYPE Operation against a key holding the wrong kind of value');
    return entry?.value as Values[K] | undefined;
  }

  findOrMake<K extends Kind>(key: string, kind: K): Values[K] {
    const found = this.find(key, kind);
    if (found) return found;
    const value = NEW[kind]();
    this.entries.set(key, { kind, value, expiresAt: NEVER });
    return value;
  }

  /** A text, in the place of whatever the key held. */
  put(key: string, text: string, expiresAt: number): void {
    this.entries.set(key, { kind: 'string', value: { text }, expiresAt });
  }

  delete(key: string): boolean {
    return this.entryOf(key) !== undefined && this.entries.delete(key);
  }

  /** Those that begin so. */
  *keysWith(begin: string): Generator<string> {
    for (const key of this.entries.keys()) if (key.startsWith(begin) && this.entryOf(key)) yield key;
  }

  /** To be called once something was taken out: a key that holds nothing is gone. */
  dropIfEmpty(key: string, left: number): void {
    if (left === 0) this.entries.delete(key);
  }

  /** False where there is no such key. `at`: epoch ms, infinite for never. */
  expire(key: string, at: number): boolean {
    const entry = this.entryOf(key);
    if (!entry) return false;
    entry.expiresAt = at;
    return true;
  }

  private entryOf(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined || entry.expiresAt === NEVER || entry.expiresAt > this.now()) return entry;
    this.entries.delete(key);
    return undefined;
  }
}

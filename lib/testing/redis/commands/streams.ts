import { type Reply, ReplyError, syntaxError } from '../reply.js';
import { idText, isBehind, type Stream, type StreamEntry, type StreamId } from '../stream.js';
import { type Command, integerOf, requireArguments } from './command.js';

const LAST_ID: StreamId = { ms: Number.POSITIVE_INFINITY, seq: Number.POSITIVE_INFINITY };

/** An id as commands are given it; `seq` where it names milliseconds alone. */
function readId(text: string, seq: number): StreamId {
  const [, ms, number] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  if (ms === undefined) throw new ReplyError('ERR Invalid stream ID specified as stream command argument');
  return { ms: Number(ms), seq: number === undefined ? seq : Number(number) };
}

function readBound(text: string, seq: number): StreamId {
  if (text === '-') return { ms: 0, seq: 0 };
  return text === '+' ? LAST_ID : readId(text, seq);
}

const isUpTo = (entry: StreamId, last: StreamId) => !isBehind(entry, last);

/** Whether an id lies behind a bound that begins a range there. A '(' leaves the bound itself out. */
function isFrom(text: string): (entry: StreamId) => boolean {
  if (text.startsWith('(')) {
    const bound = readId(text.slice(1), 0);
    return (entry) => isBehind(entry, bound);
  }
  const bound = readBound(text, 0);
  return (entry) => isUpTo(bound, entry);
}

function isTo(text: string): (entry: StreamId) => boolean {
  if (text.startsWith('(')) {
    const bound = readId(text.slice(1), Number.POSITIVE_INFINITY);
    return (entry) => isBehind(bound, entry);
  }
  const bound = readBound(text, Number.POSITIVE_INFINITY);
  return (entry) => isUpTo(entry, bound);
}

/** Throws for a bound that is none before anybody looks for the stream, as Redis does. */
function inRange(from: string, to: string): (entry: StreamEntry) => boolean {
  const [isIn, isStillIn] = [isFrom(from), isTo(to)];
  return (entry) => isIn(entry) && isStillIn(entry);
}

function readCount(options: readonly string[]): number {
  if (options.length === 0) return Number.POSITIVE_INFINITY;
  if (options.length !== 2 || options[0]!.toUpperCase() !== 'COUNT') throw syntaxError();
  return Math.max(0, integerOf(options[1]));
}

function told(entries: readonly StreamEntry[], count: number): Reply {
  if (count === 0) return null;
  return entries.slice(0, count).map((entry) => [idText(entry), [...entry.fields]]);
}

/** The next id: of now, or behind the last one where the clock went back. */
function nextId({ last }: Stream, now: number): StreamId {
  const ms = Math.floor(now);
  return ms > last.ms ? { ms, seq: 0 } : { ms: last.ms, seq: last.seq + 1 };
}

export const STREAM_COMMANDS = {
  XADD(keys, args) {
    const [key, ...rest] = args;
    const isTrimmed = rest[0]?.toUpperCase() === 'MAXLEN';
    const isAbout = isTrimmed && rest[1] === '~';
    const most = isTrimmed ? integerOf(rest[isAbout ? 2 : 1]) : Number.POSITIVE_INFINITY;
    const [id, ...fields] = rest.slice(isTrimmed ? (isAbout ? 3 : 2) : 0);
    requireArguments('xadd', fields, 2, 0);
    const given = id === '*' ? undefined : readId(id!, 0);
    const isNew = keys.find(key!, 'stream') === undefined;
    const stream = keys.findOrMake(key!, 'stream');
    const next = given ?? nextId(stream, keys.now());
    if (!isBehind(next, stream.last)) {
      if (isNew) keys.delete(key!);
      throw new ReplyError('ERR The ID specified in XADD is equal or smaller than the target stream top item');
    }
    stream.entries.push({ ...next, fields });
    stream.last = next;
    // Redis trims whole nodes where it is to trim about so many; nobody may rely on more.
    if (stream.size > most) stream.entries = stream.entries.slice(stream.size - most);
    return idText(next);
  },

  XRANGE(keys, [key, from, to, ...options]) {
    const isWanted = inRange(from!, to!);
    const count = readCount(options);
    const stream = keys.find(key!, 'stream');
    return stream ? told(stream.entries.filter(isWanted), count) : [];
  },

  XREVRANGE(keys, [key, to, from, ...options]) {
    const isWanted = inRange(from!, to!);
    const count = readCount(options);
    const stream = keys.find(key!, 'stream');
    return stream ? told(stream.entries.filter(isWanted).reverse(), count) : [];
  },

  XTRIM(keys, [key, strategy, ...bound]) {
    if (strategy?.toUpperCase() !== 'MINID' || bound.length !== 1) throw syntaxError();
    const first = readId(bound[0]!, 0);
    const stream = keys.find(key!, 'stream');
    if (!stream) return 0;
    const before = stream.size;
    stream.entries = stream.entries.filter((entry) => isUpTo(first, entry));
    return before - stream.size;
  },
} satisfies Record<string, Command>;

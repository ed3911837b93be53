/** The id of an entry: milliseconds, and a number among those of one millisecond. */
export interface StreamId {
  readonly ms: number;
  readonly seq: number;
}

export interface StreamEntry extends StreamId {
  readonly fields: readonly string[];
}

/** Entries in the order of their ids, which only grow. */
export class Stream {
  entries: StreamEntry[] = [];
  last: StreamId = { ms: 0, seq: 0 };

  get size(): number {
    return this.entries.length;
  }
}

export const isBehind = (a: StreamId, b: StreamId): boolean => a.ms > b.ms || (a.ms === b.ms && a.seq > b.seq);

export const idText = ({ ms, seq }: StreamId): string => `${ms}-${seq}`;

/** What a node says of its replication. */
export interface Replication {
  /** Under which id it writes: another one each time that it becomes a primary, and after a restart. `undefined` of a replica. */
  readonly id?: string;
  /** How many replicas are connected and have all of its data. */
  readonly replicas: number;
}

/** Reads the section `replication` of INFO. */
export function readReplication(info: unknown): Replication {
  const text = String(info);
  return {
    id: /^role:master/m.test(text) ? /^master_replid:(\w+)/m.exec(text)?.[1] : undefined,
    replicas: text.match(/^slave\d+:.*\bstate=online\b/gm)?.length ?? 0,
  };
}

/** What a node says of its replication. */
export interface Replication {
  /** Under which id it writes: another one after each failover, and after a restart. */
  readonly id: string;
  /** How many replicas are connected and have all of its data. */
  readonly replicas: number;
}

/** Reads the section `replication` of INFO. */
export function readReplication(info: string): Replication {
  return {
    id: /^master_replid:(\w+)/m.exec(info)?.[1] ?? '',
    replicas: info.match(/^slave\d+:.*\bstate=online\b/gm)?.length ?? 0,
  };
}

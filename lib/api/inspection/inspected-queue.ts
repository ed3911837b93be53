/** A queue that somebody has used. */
export interface InspectedQueue {
  name: string;
  /** When a process that schedules or works there last said so; each says so every ten minutes. */
  lastSeenAt: Date;
}

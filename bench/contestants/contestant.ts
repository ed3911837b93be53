import type { GroupsOptions, ScheduledQueueInspector } from 'nestjs-redis-scheduled-queue';

/** Who is compared. */
export const CONTESTANTS = ['ours', 'bullmq', 'bee-queue', 'groupmq', 'floor'] as const;
export type ContestantName = (typeof CONTESTANTS)[number];

/** Those of them that lie in bench/node_modules. */
export const PEERS = ['bullmq', 'bee-queue', 'groupmq'] as const satisfies readonly ContestantName[];

/** Who takes part in whatever is not about one feature: groupmq does groups and nothing else. */
export const EVERYBODY: readonly ContestantName[] = CONTESTANTS.filter((name) => name !== 'groupmq');

export const TITLES: Readonly<Record<ContestantName, string>> = {
  ours: 'this library',
  bullmq: 'BullMQ',
  'bee-queue': 'bee-queue',
  groupmq: 'groupmq',
  floor: 'floor',
};

/** What a job carries: an object, for every contestant the same. */
export type Payload = Readonly<Record<string, unknown>>;

export interface Job {
  payload: Payload;
  /** When it is due, epoch ms; left out: now. */
  dueAt?: number;
  /** Only where the benchmark is about it, and then for this library alone; `group` for groupmq, too. */
  name?: string;
  queue?: string;
  priority?: number;
  worker?: string;
  group?: string;
  id?: string;
  tags?: readonly string[];
  /** Of which set it is. */
  set?: string;
  /** How many jobs of the same kind follow it in its chain. */
  steps?: number;
}

/** One job again and again: at wall times of a zone, or every so many ms since the epoch, and so much later. */
export interface Recurrence {
  id: string;
  payload: Payload;
  rule: ({ cron: string; timeZone: string } | { everyMs: number; offsetMs: number }) & { onMissed?: 'all' };
  /** For this library alone. */
  queue?: string;
}

/** What a benchmark does in a job. The floor hands over the payload as it was stored, unread. */
export type Handle = (payload: Payload | string) => unknown;

export interface OpenOptions {
  redis: string;
  /** How many jobs may run at once. */
  concurrency: number;
  handle: Handle;
  /** Called for each job that Redis has forgotten, its handler having returned. */
  settled?: () => void;
  /** Whether jobs become due while the session works: some contestants are told so. */
  delayed?: boolean;
  /**
   * For this library alone: `handle` is called once for so many jobs; what holds for each group; a class validates each payload; handlers are of the version after that of the jobs; the names and the queues that are handled; whether the
   * current job is tracked, events are streamed, the module measures, and who makes a span for each run: the module, or the handler by what the SDK offers.
   */
  batch?: { size: number };
  groups?: GroupsOptions;
  validated?: boolean;
  upgrades?: boolean;
  names?: readonly string[];
  queues?: readonly string[];
  /** Of a cluster, in the place of `redis`; for this library alone. */
  nodes?: readonly { host: string; port: number }[];
  trackCurrentJob?: boolean;
  streamEvents?: { maxLength: number };
  metered?: boolean;
  traced?: 'by the module' | 'by hand';
}

/** One contestant, connected, as an application would hold it. Ends with its process. */
export interface Session {
  /** One call for one job. Resolves once Redis has it. */
  schedule(job: Job): Promise<unknown>;
  /** One call for all of them, however many round trips the contestant makes of it. */
  scheduleMany(jobs: readonly Job[]): Promise<unknown>;
  /** One call for one recurrence. Resolves once Redis has it and its first job. Only of those that have recurrences. */
  upsertRecurrence?(recurrence: Recurrence): Promise<unknown>;
  /** Opens a set for jobs that are put there next; of this library alone. */
  openSet?(id: string): Promise<unknown>;
  /** What tells of the jobs; of this library alone. */
  readonly inspector?: ScheduledQueueInspector;
  /** Begins to run jobs. */
  start(): Promise<void>;
  /** Runs no more of them, and waits for those that run. Only where the benchmark needs it. */
  stop?(): Promise<void>;
}

export interface Contestant {
  /** How it is used here, for the reader of the figures. */
  readonly configured: string;
  open(options: OpenOptions): Promise<Session>;
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GroupsOptions } from '../../lib/index.js';
import { newPrefix, queueUrl } from './queue-app.js';

/** A line of the history that worker processes write themselves. */
export interface HistoryLine {
  event: 'start' | 'end';
  id: string;
  worker: string;
  /** Only of workers, not of pullers. */
  pid?: number;
  /** What the payload said, if anything. */
  version?: number;
  /** Of workers, and of jobs that have one. */
  group?: string;
  attempt: number;
  /** Only of workers. Begins as the time of the claim by Redis' clock, in µs. */
  fence?: number;
  dueAt: number;
  at: number;
}

export interface WorkerProcessOptions {
  /** Pulls its jobs in `concurrency` loops, rather than handling them: see test/processes/puller.ts. */
  pulls?: boolean;
  /** Relays all jobs to there, rather than handling them: see test/processes/relayer.ts. */
  relaysTo?: { stream: string } | { list: string };
  /** Of the jobs that it handles, `work` unless given. */
  name?: string;
  redis?: string;
  concurrency?: number;
  leaseMs?: number;
  workMs?: number;
  keepCompleted?: number;
  shutdownTimeoutMs?: number;
  /** Whether the handler returns as soon as its signal aborts. */
  obeySignal?: boolean;
  /** What the worker calls itself in the queue, where that is not the name under which the test knows it. */
  workerId?: string;
  /** Whether jobs that ask to block the event loop do not in this one. */
  ignoreBlock?: boolean;
  /** Whether payloads are checked against a class. */
  checkPayloads?: boolean;
  /** Whether its handler gets so many jobs a call. */
  batchSize?: number;
  globalConcurrency?: number;
  rateLimit?: { max: number; perMs: number };
  groups?: GroupsOptions;
  maxCrashes?: number;
  streamEvents?: { maxLength: number };
  /** Puts the process's wall clock wrong: see test/processes/wrong-clock.ts. */
  wrongClock?: 'fast' | 'slow' | 'jumping' | 'passing';
  /** What it logs is there for `logged`. */
  keepsLog?: boolean;
}

/** Processes that work on one queue together, and the history of what they did. */
export class WorkerProcesses {
  readonly prefix = newPrefix();
  private readonly directory = mkdtempSync(join(tmpdir(), 'scheduled-queue-workers-'));
  private readonly processes = new Map<string, ChildProcess>();
  private readonly logs = new Map<string, string>();
  private stopping = false;

  /** Resolves once the worker claims. */
  async start(workerId: string, options: WorkerProcessOptions = {}): Promise<void> {
    const program = options.relaysTo ? 'relayer' : options.pulls ? 'puller' : 'worker';
    const child = fork(`dist-test/${program}.js`, {
      execArgv: options.wrongClock ? ['--import', './dist-test/wrong-clock.js'] : [],
      env: {
        ...process.env,
        REDIS: options.redis ?? queueUrl(),
        PREFIX: this.prefix,
        WORKER_ID: options.workerId ?? workerId,
        HISTORY: this.historyFile,
        JOB_NAME: options.name ?? 'work',
        CONCURRENCY: String(options.concurrency ?? 10),
        LEASE_MS: String(options.leaseMs ?? 2_000),
        WORK_MS: String(options.workMs ?? 0),
        KEEP_COMPLETED: String(options.keepCompleted ?? 0),
        SHUTDOWN_TIMEOUT_MS: String(options.shutdownTimeoutMs ?? 20_000),
        OBEY_SIGNAL: options.obeySignal ? '1' : '',
        IGNORE_BLOCK: options.ignoreBlock ? '1' : '',
        CHECK_PAYLOADS: options.checkPayloads ? '1' : '',
        BATCH_SIZE: String(options.batchSize ?? ''),
        QUEUE_OPTIONS: JSON.stringify({
          globalConcurrency: options.globalConcurrency,
          rateLimit: options.rateLimit,
          groups: options.groups,
          maxCrashes: options.maxCrashes,
          streamEvents: options.streamEvents,
        }),
        RELAY_TO: JSON.stringify(options.relaysTo ?? null),
        WRONG_CLOCK: options.wrongClock ?? '',
        NODE_OPTIONS: '',
      },
      stdio: ['ignore', options.keepsLog ? 'pipe' : process.env.TEST_LOGS ? 'inherit' : 'ignore', 'inherit', 'ipc'],
    });
    child.stdout?.setEncoding('utf8').on('data', (text) => this.logs.set(workerId, this.logged(workerId) + text));
    this.processes.set(workerId, child);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`Worker ${workerId} ended with ${code} before it was ready.`);
    });
    ended.catch(() => {});
    await Promise.race([once(child, 'message'), ended]);
  }

  /** Starts the worker again each time it has ended, until `stop`. */
  async keepAlive(workerId: string, options: WorkerProcessOptions = {}): Promise<void> {
    await this.start(workerId, options);
    void this.ended(workerId).then(() => {
      if (!this.stopping) this.keepAlive(workerId, options).catch(() => {});
    });
  }

  signal(workerId: string, signal: NodeJS.Signals): void {
    this.processes.get(workerId)!.kill(signal);
  }

  /** Resolves to the exit code, or the signal that ended it. */
  async ended(workerId: string): Promise<number | NodeJS.Signals> {
    const child = this.processes.get(workerId)!;
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode ?? child.signalCode!;
  }

  /** What a worker with `keepsLog` has logged so far, warnings and worse. */
  logged(workerId: string): string {
    return this.logs.get(workerId) ?? '';
  }

  history(): HistoryLine[] {
    if (!existsSync(this.historyFile)) return [];
    const lines = readFileSync(this.historyFile, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
  }

  /** The starts in the order of their claims, whatever the processes were slow at. */
  startsByClaim(): HistoryLine[] {
    const starts = this.history().filter(({ event }) => event === 'start');
    return starts.sort((a, b) => a.fence! - b.fence!);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    for (const child of this.processes.values()) child.kill('SIGKILL');
    await Promise.all([...this.processes.keys()].map((workerId) => this.ended(workerId)));
  }

  private get historyFile(): string {
    return join(this.directory, 'history.jsonl');
  }
}

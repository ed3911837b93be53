import type { ChildProcess } from 'node:child_process';
import type { ContestantName } from '../contestants/contestant.js';
import { startProcesses } from './processes.js';

/** What a worker process is told, as its argument. */
export interface WorkerTask {
  contestant: ContestantName;
  redis: string;
  concurrency: number;
  /** How long each run waits. */
  handlerMs: number;
}

interface Progress {
  count: number;
  /** By this process' monotonic clock, ms. */
  at: number;
}

/** Processes that drain one queue together. They end with this one. */
export class WorkerProcesses {
  private readonly counts: number[];
  private watch: { count: number; resolve: (progress: Progress) => void } | undefined;

  private constructor(private readonly children: readonly ChildProcess[]) {
    this.counts = children.map(() => 0);
    for (const [i, child] of children.entries()) {
      child.on('message', (settled: number) => {
        this.counts[i] = settled;
        this.look();
      });
    }
  }

  /** Resolves once all are connected. */
  static async start(count: number, task: WorkerTask): Promise<WorkerProcesses> {
    return new WorkerProcesses(await startProcesses('worker.js', count, task));
  }

  begin(): void {
    for (const child of this.children) child.send('begin');
  }

  /** Resolves when they have settled so many in all, as far as they have told. */
  settled(count: number): Promise<Progress> {
    return new Promise((resolve) => {
      this.watch = { count, resolve };
      this.look();
    });
  }

  private look(): void {
    const count = this.counts.reduce((sum, each) => sum + each, 0);
    if (this.watch && count >= this.watch.count) this.watch.resolve({ count, at: performance.now() });
  }
}

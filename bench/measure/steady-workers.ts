import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { startProcesses } from './processes.js';
import type { WorkerTask } from './worker-processes.js';

/** What a process is told. */
export type SteadyWord = 'begin' | 'report';

export interface SteadyReport {
  /** Since it began. */
  settled: number;
  /** CPU time that it has used since it was started. */
  cpuMicros: number;
  /** How late each job has started since the last report. */
  lateMs: number[];
}

/** Epoch ms with parts of one, the same in all processes of a machine: by their monotonic clocks. */
export const preciseNow = () => performance.timeOrigin + performance.now();

/** Processes that work on one queue and say nothing until they are asked. They end with this one. */
export class SteadyWorkers {
  private constructor(private readonly children: readonly ChildProcess[]) {}

  /** Resolves once all are connected and have been told to begin. */
  static async start(count: number, task: WorkerTask): Promise<SteadyWorkers> {
    const workers = new SteadyWorkers(await startProcesses('steady-worker.js', count, task));
    for (const child of workers.children) child.send('begin' satisfies SteadyWord);
    return workers;
  }

  /** Of all of them together. */
  async report(): Promise<SteadyReport> {
    const reports = await Promise.all(this.children.map(ask));
    const sum = (of: (report: SteadyReport) => number) => reports.reduce((total, report) => total + of(report), 0);
    return {
      settled: sum(({ settled }) => settled),
      cpuMicros: sum(({ cpuMicros }) => cpuMicros),
      lateMs: reports.flatMap(({ lateMs }) => lateMs),
    };
  }
}

async function ask(child: ChildProcess): Promise<SteadyReport> {
  const answer = once(child, 'message');
  child.send('report' satisfies SteadyWord);
  const [report] = (await answer) as [SteadyReport];
  return report;
}

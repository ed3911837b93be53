import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { queueUrl } from './queue-app.js';

export type Ask = { schedule: string } | { cancel: string } | { reschedule: string; delay: number };

/** A process of its own that schedules, cancels and reschedules jobs of the default queue. */
export class ProducerProcess {
  private constructor(private readonly child: ChildProcess) {}

  static async start(prefix: string): Promise<ProducerProcess> {
    const child = fork('dist-test/producer.js', {
      env: { ...process.env, REDIS: queueUrl(), PREFIX: prefix, NODE_OPTIONS: '' },
      execArgv: [],
    });
    await once(child, 'message');
    return new ProducerProcess(child);
  }

  /** All at the same time: `created` of a schedule, what cancel and reschedule answered. */
  async ask(asks: Ask[]): Promise<boolean[]> {
    this.child.send(asks);
    const [answers] = await once(this.child, 'message');
    return answers;
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

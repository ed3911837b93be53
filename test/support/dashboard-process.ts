import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { redisUrl } from './queue-app.js';

/** The application of docs/dashboard.md, with the queue `mail` and its worker, in a process of its own. */
export class DashboardProcess {
  private constructor(
    private readonly child: ChildProcess,
    /** Of the application; the board is at /queues. */
    readonly url: string,
  ) {}

  /** `password`: of the board's user `operator`; nobody comes in without one. */
  static async start(prefix: string, password = ''): Promise<DashboardProcess> {
    const child = fork('dist-test/test/e2e/docs/dashboard-app.js', {
      env: { ...process.env, REDIS: redisUrl(), PREFIX: prefix, DASHBOARD_PASSWORD: password, NODE_OPTIONS: '' },
      execArgv: [],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`The dashboard's application ended with ${code} before it was ready.`);
    });
    ended.catch(() => {});
    const [url] = await Promise.race([once(child, 'message'), ended]);
    return new DashboardProcess(child, url);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}

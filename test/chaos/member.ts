import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOption } from 'nestjs-redis-scheduled-queue';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { type History, monotonicMs } from './history.js';
import type { KindName } from './job-kinds.js';

/** How a process reaches Redis. */
export interface Connected {
  connection: ConnectionOption;
  /** Through which it does, where its connections are to fail. */
  proxy?: TcpProxy;
}

export interface MemberOptions extends Connected {
  name: string;
  role: 'worker' | 'producer';
  directory: string;
  seed: number;
  /** Kinds of which a producer schedules no job. */
  without: readonly KindName[];
  history: History;
}

const GONE_WITHIN_MS = 30_000;
const ANSWERED_WITHIN_MS = 20_000;

/**
 * A worker or producer: one process at a time. Its process is called `<name>.<n>`, the nth of
 * that name. One that dies by itself, as workers do of poison, is started again, as a supervisor would.
 */
export class Member {
  private child?: ChildProcess;
  private incarnation = 0;
  private wanted = false;

  private constructor(private readonly options: MemberOptions) {}

  static async start(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    await member.start();
    return member;
  }

  get name(): string {
    return this.options.name;
  }

  get proxy(): TcpProxy | undefined {
    return this.options.proxy;
  }

  /** What the process is called that runs now, or ran last. */
  get who(): string {
    return `${this.name}.${this.incarnation}`;
  }

  /** Resolves once it works, or has died before. Where it stands already, as two faults may end at once, nothing happens. */
  async start(): Promise<void> {
    if (this.wanted && this.child && !this.isGone) return;
    const { name, role, connection, directory, seed, without, history } = this.options;
    this.wanted = true;
    this.incarnation++;
    const log = openSync(join(directory, `${name}.log`), 'a');
    const child = fork(`dist-test/test/chaos/processes/${role}.js`, {
      env: {
        ...process.env,
        CONNECTION: JSON.stringify(connection),
        NAME: name,
        WHO: this.who,
        HISTORY: history.path,
        SEED: String(seed),
        WITHOUT: JSON.stringify(without),
        NODE_OPTIONS: '',
        NO_COLOR: '1',
      },
      stdio: ['ignore', log, log, 'ipc'],
    });
    this.child = child;
    this.watch(child, this.who);
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
  }

  private watch(child: ChildProcess, who: string): void {
    child.once('exit', (code, signal) => {
      const wanted = !this.wanted || child !== this.child;
      this.options.history.note({ type: 'exit', wanted, code: code ?? signal! }, who);
      if (!wanted) void this.start();
    });
  }

  /** SIGKILL; resolves once it is gone. */
  async kill(): Promise<void> {
    this.wanted = false;
    this.child!.kill('SIGKILL');
    await this.gone();
  }

  /** SIGTERM; resolves to how long it took to leave, once it has. */
  async terminate(): Promise<number> {
    this.wanted = false;
    const from = monotonicMs();
    this.child!.kill('SIGTERM');
    await this.gone();
    return monotonicMs() - from;
  }

  freeze(): void {
    this.child!.kill('SIGSTOP');
  }

  thaw(): void {
    this.child!.kill('SIGCONT');
  }

  /** Tells its process something; resolves once that has answered. */
  async ask(message: string): Promise<void> {
    const answered = once(this.child!, 'message', { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    this.child!.send(message);
    await answered;
  }

  /** Whatever was done to it, it works after this. */
  async heal(): Promise<void> {
    this.proxy?.accept();
    this.proxy?.cut();
    this.thaw();
    await this.start();
  }

  async end(): Promise<void> {
    await this.kill();
    await this.proxy?.stop();
  }

  private get isGone(): boolean {
    return this.child!.exitCode !== null || this.child!.signalCode !== null;
  }

  private async gone(): Promise<void> {
    if (!this.isGone) await once(this.child!, 'exit', { signal: AbortSignal.timeout(GONE_WITHIN_MS) });
  }
}

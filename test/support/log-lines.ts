import type { LoggerService } from '@nestjs/common';

/** Said once at every start, of connection, handlers and relays. */
const AT_START =
  /^(Connected to |Mapped \{|Not run here \{|No method with |Relays |The option queues |The option shutdownTimeoutMs |The timeoutMs )/;

/** What the library logs, as `<level> <line>`; what Nest itself says is left out. */
export class LogLines implements LoggerService {
  /** All but what is said at every start. */
  readonly lines: string[] = [];
  readonly atStart: string[] = [];
  /** By line, the stack that came with it. */
  readonly stacks = new Map<string, string>();

  log(message: unknown, ...more: unknown[]): void {
    this.note('log', message, more);
  }

  warn(message: unknown, ...more: unknown[]): void {
    this.note('warn', message, more);
  }

  error(message: unknown, ...more: unknown[]): void {
    this.note('error', message, more);
  }

  starting(beginning: string): string[] {
    return this.lines.filter((line) => line.startsWith(beginning));
  }

  private note(level: string, message: unknown, more: unknown[]): void {
    if (process.env.TEST_LOGS) process.stdout.write(`${level} ${message}\n`);
    if (more.at(-1) !== 'ScheduledQueue') return;
    const line = `${level} ${message}`;
    (AT_START.test(String(message)) ? this.atStart : this.lines).push(line);
    if (typeof more[0] === 'string' && more.length > 1) this.stacks.set(line, more[0]);
  }
}

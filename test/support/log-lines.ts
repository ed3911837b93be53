import type { LoggerService } from '@nestjs/common';

/** What the library logs, as `<level> <line>`; what Nest itself says is left out. */
export class LogLines implements LoggerService {
  readonly lines: string[] = [];

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
    if (more.at(-1) === 'ScheduledQueue') this.lines.push(`${level} ${message}`);
  }
}

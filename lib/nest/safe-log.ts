import { Logger } from '@nestjs/common';
import type { Log } from '../core/log.js';
import { oneLine } from '../core/one-line.js';

/**
 * Nest's logger without its throws: an application's own logger may throw, and that must not cost a worker its jobs. Each message
 * is written as one line, whatever it quotes.
 */
export function safeLog(context: string): Log {
  const logger = new Logger(context);
  const safely = (level: keyof Log) => (message: string) => {
    try {
      logger[level](oneLine(message));
    } catch {}
  };
  return { log: safely('log'), warn: safely('warn'), error: safely('error') };
}

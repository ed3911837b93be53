import { Logger } from '@nestjs/common';
import type { Log } from '../core/log.js';
import { oneLine } from '../core/one-line.js';

/**
 * Nest's logger, but for what the application's own may throw: no line is worth the jobs of the worker that writes it. Each
 * message is one line, whatever the errors say that it quotes.
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

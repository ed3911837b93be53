import { Logger } from '@nestjs/common';
import type { Log } from '../core/log.js';

/** Nest's logger, but for what the application's own may throw: no line is worth the jobs of the worker that writes it. */
export function safeLog(context: string): Log {
  const logger = new Logger(context);
  const safely = (level: keyof Log) => (message: string) => {
    try {
      logger[level](message);
    } catch {}
  };
  return { log: safely('log'), warn: safely('warn'), error: safely('error') };
}

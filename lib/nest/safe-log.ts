import { Logger } from '@nestjs/common';
import { currentScheduledJob, outsideJobs } from '../core/job/current-job.js';
import type { Log } from '../core/log.js';
import { oneLine } from '../core/read/one-line.js';

/** What the module writes of itself. */
export const LOG = safeLog('ScheduledQueue');

/**
 * Nest's logger without its throws: an application's own logger may throw, and that must not cost a worker its jobs. Each message
 * is written as one line, whatever it quotes; a stack is the second argument, where Nest's logger expects it.
 */
export function safeLog(context: string): Log {
  const logger = new Logger(context);
  const safely = (level: keyof Log) => (message: string, stack?: string) => {
    const write = () => {
      try {
        if (stack === undefined) logger[level](oneLine(message));
        else logger[level](oneLine(message), stack.split('\n').map(oneLine).join('\n'));
        return true;
      } catch {
        return false;
      }
    };
    // Little may be known of a job that a line is about: a logger that cannot add its fields still gets the line.
    if (!write() && currentScheduledJob() !== undefined) outsideJobs(write);
  };
  return { log: safely('log'), warn: safely('warn'), error: safely('error') };
}

import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { QueueUnavailableError, ScheduledQueueError } from '../../../lib/index.js';

/** What the queue refuses is the caller's mistake; a Redis that is away is not. */
@Catch(ScheduledQueueError)
export class QueueErrorFilter extends BaseExceptionFilter {
  override catch(error: ScheduledQueueError, host: ArgumentsHost): void {
    const statusCode = error instanceof QueueUnavailableError ? 503 : 400;
    super.catch(new HttpException({ statusCode, error: error.code, message: error.message }, statusCode), host);
  }
}

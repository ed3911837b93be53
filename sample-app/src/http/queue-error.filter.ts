import { type ArgumentsHost, Catch, HttpException } from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import {
  InvalidPayloadError,
  InvalidScheduleError,
  PayloadTooLargeError,
  QueueUnavailableError,
  ScheduledQueueError,
} from '../../../lib/index.js';

const CALLERS_MISTAKES = [InvalidScheduleError, InvalidPayloadError, PayloadTooLargeError];

/** What the queue refuses as it stands is the caller's mistake; a Redis that is away, or a shutdown, is not. */
@Catch(ScheduledQueueError)
export class QueueErrorFilter extends BaseExceptionFilter {
  override catch(error: ScheduledQueueError, host: ArgumentsHost): void {
    const isMistake = CALLERS_MISTAKES.some((type) => error instanceof type);
    const statusCode = isMistake ? 400 : error instanceof QueueUnavailableError ? 503 : 500;
    super.catch(new HttpException({ statusCode, error: error.code, message: error.message }, statusCode), host);
  }
}

import {
  type ArgumentsHost,
  Catch,
  Module,
  ServiceUnavailableException,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter } from '@nestjs/core';
import { QueueUnavailableError } from 'nestjs-redis-scheduled-queue';

@Catch(QueueUnavailableError)
export class QueueUnavailableFilter extends BaseExceptionFilter {
  override catch(error: QueueUnavailableError, host: ArgumentsHost) {
    // In a handler of a job there is no response: the attempt fails.
    if (host.getType() !== 'http') throw error;
    super.catch(new ServiceUnavailableException('Try again later'), host);
  }
}

@Module({
  providers: [{ provide: APP_FILTER, useClass: QueueUnavailableFilter }],
})
export class ErrorsModule {}

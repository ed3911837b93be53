import type { LoggerService } from '@nestjs/common';
import { currentScheduledJob } from 'nestjs-redis-scheduled-queue';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Give it to the application: NestFactory.create(AppModule, { logger: new PinoLogger() }) */
export class PinoLogger implements LoggerService {
  private readonly pino: Logger;

  constructor(destination?: DestinationStream) {
    this.pino = pino({ mixin: jobFields }, destination);
  }

  log(message: string, context?: string) {
    this.pino.info({ context }, message);
  }

  warn(message: string, context?: string) {
    this.pino.warn({ context }, message);
  }

  error(message: string, stack?: string, context?: string) {
    this.pino.error({ context, stack }, message);
  }
}

/** With nestjs-pino: LoggerModule.forRoot({ pinoHttp: { mixin: jobFields } }) */
export function jobFields() {
  const job = currentScheduledJob();
  return job ? { jobName: job.name, jobId: job.id } : {};
}

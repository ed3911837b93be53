import { ConsoleLogger, Injectable, Logger } from '@nestjs/common';
import {
  currentScheduledJob,
  OnScheduledJob,
} from 'nestjs-redis-scheduled-queue';

/** Give it to the application: NestFactory.create(AppModule, { logger: new JobLogger({ json: true }) }) */
export class JobLogger extends ConsoleLogger {
  protected override getJsonLogObject(
    ...parameters: Parameters<ConsoleLogger['getJsonLogObject']>
  ) {
    const line = super.getJsonLogObject(...parameters);
    const job = currentScheduledJob();
    return job ? { ...line, jobName: job.name, jobId: job.id } : line;
  }
}

@Injectable()
export class Mailer {
  private readonly logger = new Logger(Mailer.name);

  send(email: string) {
    // {"level":"log", … "message":"Sent to …","jobName":"reminder.send","jobId":"…"}
    this.logger.log(`Sent to ${email}`);
  }
}

@Injectable()
export class Reminders {
  constructor(private readonly mailer: Mailer) {}

  @OnScheduledJob('reminder.send')
  send({ email }: { email: string }) {
    this.mailer.send(email);
  }
}

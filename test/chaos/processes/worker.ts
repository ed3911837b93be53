// A worker of the chaos suite: a Nest application that notes all it does in the common history.
import 'reflect-metadata';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { RedisScheduledQueueModule, ScheduledQueueEvents } from 'nestjs-redis-scheduled-queue';
import { type EventLine, History } from '../history.js';
import { COMMAND_TIMEOUT_MS, PREFIX, QUEUE_OPTIONS, QUEUES, SHUTDOWN_TIMEOUT_MS, SOLOIST } from '../settings.js';
import { Handlers, Notebook, SoloHandlers } from './handlers.js';
import { reportOn } from './self-report.js';

const { CONNECTION, NAME, WHO, HISTORY } = process.env;
const history = new History(HISTORY!, WHO!);
reportOn(history);

@Module({
  imports: [
    RedisScheduledQueueModule.forRoot({
      connection: JSON.parse(CONNECTION!),
      prefix: PREFIX,
      workerId: NAME!,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
      queues: {
        default: { ...QUEUE_OPTIONS, ...QUEUES.default },
        kept: { ...QUEUE_OPTIONS, ...QUEUES.kept },
      },
    }),
  ],
  providers: [
    { provide: Notebook, useValue: new Notebook(history) },
    Handlers,
    ...(NAME === SOLOIST ? [SoloHandlers] : []),
  ],
})
class WorkerModule {}

const TOLD = new Set(['completed', 'failed', 'dead', 'snoozed', 'discarded', 'leaseLost', 'cancelled']);

Logger.overrideLogger(['error', 'warn', 'log']);
const app = await NestFactory.createApplicationContext(WorkerModule);
app.enableShutdownHooks();
app.get(ScheduledQueueEvents).events$.subscribe((event) => {
  if (!TOLD.has(event.type)) return;
  const { type, id, queue, attempt = 0, reason } = event as typeof event & { attempt?: number; reason?: string };
  history.note({ type: 'event', event: type, id, queue, attempt, reason } as EventLine);
});
history.note({ type: 'ready' });
process.send?.('ready');

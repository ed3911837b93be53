import 'reflect-metadata';
import { Logger, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { password } from './dashboard/password.js';
import { listen } from './http/listen.js';
import { QueueErrorFilter } from './http/queue-error.filter.js';
import { OpeningReminders } from './reminders/opening-reminders.js';

const logger = new Logger('Sample');

const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['log', 'warn', 'error'] });
app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }));
app.useGlobalFilters(new QueueErrorFilter(app.getHttpAdapter()));
// Ctrl-C lets running handlers end and stops the Redis that was started here.
app.enableShutdownHooks(undefined, { useProcessExit: true });

const url = await listen(app, Number(process.env.PORT ?? 3000), logger);
logger.log(`Reminders at ${url}/reminders. In another terminal, try:`);
logger.log(`curl -d text=Tea -d inSeconds=3 ${url}/reminders`);
logger.log(`The queue is at ${url}/queues for user operator, password ${password}`);

await app.get(OpeningReminders).schedule();

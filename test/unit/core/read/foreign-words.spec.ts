import { describe, expect, it } from '@jest/globals';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { readBatch } from '../../../../lib/core/options/batch-options.js';
import { readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import { readSchedule } from '../../../../lib/core/options/schedule-options.js';
import { OnScheduledJob } from '../../../../lib/nest/handlers/on-scheduled-job.decorator.js';
import { readModuleOptions } from '../../../../lib/nest/module-options.js';
import { thrown } from '../../thrown.js';

const readers = {
  schedule: (option: object) => readSchedule('ping', option),
  definition: (option: object) => defineScheduledJob('ping', option),
  handler: (option: object) => OnScheduledJob('ping', option),
  batch: (option: object) => readBatch({ size: 5, ...option }, '@OnScheduledJob', (message) => new Error(message)),
  queue: (option: object) => readQueueOptions('mail', option),
  rateLimit: (option: object) => readQueueOptions('mail', { rateLimit: { max: 1, ...option } }),
  rule: (option: object) => readRule({ cron: '@daily', ...option }, 'rule'),
  module: (option: object) => readModuleOptions(option, 'module'),
};

describe("a word of BullMQ or @nestjs/schedule leads to this library's, in the place where it is used:", () => {
  it.each<[keyof typeof readers, string, string]>([
    ['schedule', 'jobId', "BullMQ's 'jobId' is 'id' here"],
    ['schedule', 'attempts', "BullMQ's 'attempts' is 'maxAttempts' here"],
    ['schedule', 'deduplication', "BullMQ's 'deduplication' is 'onDuplicate' here"],
    ['schedule', 'lifo', "BullMQ's 'lifo' is 'priority' here"],
    ['schedule', 'repeat', "BullMQ's 'repeat' is the rule of a recurrence: @OnScheduledJob(job, { cron, timeZone })"],
    ['schedule', 'removeOnComplete', "BullMQ's 'removeOnComplete' is a queue's keepCompleted: queues: { default: {"],
    ['definition', 'removeOnFail', "BullMQ's 'removeOnFail' is a queue's keepDead"],
    ['definition', 'jobId', "BullMQ's 'jobId' is the option id of schedule"],
    ['handler', 'tz', "BullMQ's 'tz' is 'timeZone' here"],
    ['handler', 'pattern', "BullMQ's 'pattern' is 'cron' here"],
    ['handler', 'name', "@nestjs/schedule's 'name' is 'recurrenceId' here"],
    ['handler', 'every', "BullMQ's 'every' is 'everyMs' here"],
    ['handler', 'limiter', "BullMQ's 'limiter' is a queue's rateLimit: queues: { default: { rateLimit } }"],
    ['handler', 'waitForCompletion', "@nestjs/schedule's 'waitForCompletion' is 'overlap' here"],
    ['batch', 'minSize', "BullMQ's 'minSize' is 'waitMs' here"],
    ['batch', 'timeout', "BullMQ's 'timeout' is 'waitMs' here"],
    ['definition', 'timeout', "BullMQ's 'timeout' is 'timeoutMs' here"],
    ['queue', 'limiter', "BullMQ's 'limiter' is 'rateLimit' here"],
    ['queue', 'lockDuration', "BullMQ's 'lockDuration' is 'leaseMs' here"],
    ['queue', 'stalledInterval', "BullMQ's 'stalledInterval' is 'leaseMs' here"],
    ['queue', 'maxStalledCount', "BullMQ's 'maxStalledCount' is 'maxCrashes' here"],
    ['queue', 'removeOnComplete', "BullMQ's 'removeOnComplete' is 'keepCompleted' here"],
    ['rateLimit', 'duration', "BullMQ's 'duration' is 'perMs' here"],
    ['rule', 'endDate', "BullMQ's 'endDate' is 'endAt' here"],
    ['rule', 'utcOffset', "@nestjs/schedule's 'utcOffset' is 'timeZone' here"],
    ['module', 'defaultJobOptions', "BullMQ's 'defaultJobOptions' is the options of each definition"],
    ['module', 'limiter', "BullMQ's 'limiter' is a queue's rateLimit"],
  ])('%s: %s', (place, word, message) => {
    expect(thrown<Error>(() => readers[place]({ [word]: 1 })).message).toContain(
      `unknown option "${word}": ${message}`,
    );
  });

  it('but what is only misspelt is told as such, and a word of nobody as before', () => {
    expect(thrown<Error>(() => readers.rule({ timezone: 'UTC' })).message).toContain("did you mean 'timeZone'?");
    expect(thrown<Error>(() => readers.schedule({ toString: 1 })).message).toContain('known are at, delay');
  });
});

describe('an option of handlers leads to them, where it is given to', () => {
  it.each<[keyof typeof readers, string, string]>([
    ['definition', 'batch', 'it belongs to the handler: @OnScheduledJob(job, { batch }).'],
    ['schedule', 'batch', 'it belongs to the handler: @OnScheduledJob(job, { batch }).'],
    ['queue', 'batch', 'it belongs to the handler: @OnScheduledJob(job, { batch }).'],
    [
      'schedule',
      'weight',
      'it belongs to the handler, @OnScheduledJob(job, { weight }), or, that of a group, to inspector.setGroup.',
    ],
    ['definition', 'concurrency', 'it belongs to the handler, @OnScheduledJob(job, { concurrency }), or to a queue'],
  ])('%s: %s', (place, option, message) => {
    expect(thrown<Error>(() => readers[place]({ [option]: 1 })).message).toContain(
      `unknown option "${option}": ${message}`,
    );
  });
});

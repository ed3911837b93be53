import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { UsePipes, ValidationPipe } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Transform } from 'class-transformer';
import { IsEmail, IsInt } from 'class-validator';
import { redactionOf } from '../../../lib/core/payload/redaction.js';
import {
  defineScheduledJob,
  InvalidPayloadError,
  OnScheduledJob,
  type ScheduledJob,
  ScheduledQueueInspector,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { ScheduledQueueTester, ScheduledQueueTestingModule } from '../../../lib/testing/index.js';
import { LogLines } from '../../support/log-lines.js';
import { type QueueApp, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const SECRET = 'hunter2';
/** As a pipe may quote it: no search for the value of the payload finds it. */
const CHANGED = SECRET.toUpperCase();
const HIDDEN = new RegExp(SECRET, 'i');

class Account {
  @IsInt({ message: '$value is no amount' }) amount!: number;
  @Transform(({ value }) => String(value).toUpperCase())
  @IsEmail({}, { message: 'login $value is no address' })
  login!: string;
}
const open = defineScheduledJob('open', { payload: Account, maxAttempts: 1 });
const WRONG = { amount: 'seven', login: SECRET } as never;

class Handlers {
  readonly seen: unknown[] = [];

  @OnScheduledJob(open)
  open(_account: Account): void {}

  @UsePipes(new ValidationPipe({ expectedType: Account, transform: true }))
  @OnScheduledJob('piped', { maxAttempts: 1 })
  piped(_account: unknown): void {}

  @UsePipes(new ValidationPipe({ expectedType: Account, errorHttpStatusCode: 500 }))
  @OnScheduledJob('piped-500', { maxAttempts: 1 })
  failing(_account: unknown): void {}

  @OnScheduledJob('keeps')
  async keeps(payload: unknown, job: ScheduledJob): Promise<unknown> {
    this.seen.push([payload, job.headers]);
    await job.progress({ login: SECRET, done: 1 });
    return { login: SECRET, amount: 7 };
  }
}

const log = new LogLines();
let app: QueueApp;

beforeAll(async () => {
  const options = { redact: ['login'], queues: { default: { keepCompleted: 10 } } };
  app = await startApp([Handlers], options, { log });
});
afterAll(stopApps);

/** The log line about the death of the only job of this name, and what its failure says. */
async function deathOf(name: string, id: string): Promise<{ line: string; kept: string }> {
  await until('it is dead', async () => (await app.inspector.job(id))?.state === 'dead');
  const line = await until('that is logged', () => log.lines.find((one) => one.includes(`'${name}' (${id})`)));
  return { line, kept: JSON.stringify((await app.inspector.job(id))!.failures) };
}

it.each([
  ['open', 'amount: isInt; login: [redacted]'],
  ['piped', '[value] is no amount; login: [redacted]'],
  ['piped-500', '[value] is no amount; login: [redacted]'],
])('of what %s finds wrong in a redacted property the log tells only which it is', async (name, told) => {
  const { id } = await app.producer.schedule(name, WRONG);
  const { line, kept } = await deathOf(name, id);
  expect(line).toContain(told);
  expect(line + kept + log.stacks.get(line)).not.toMatch(HIDDEN);
});

it('so does the error that schedule throws', async () => {
  const error: InvalidPayloadError = await app.producer.schedule(open, WRONG).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidPayloadError);
  expect(error.findings).toEqual([
    { path: 'amount', messages: ['seven is no amount'] },
    { path: 'login', messages: ['[redacted]'] },
  ]);
  expect(`${error} ${error.stack}`).not.toContain(CHANGED);
});

it('handlers and the inspector get everything, and people what redact leaves', async () => {
  const headers = { login: SECRET, locale: 'fr' };
  const { id } = await app.producer.schedule('keeps', { login: SECRET }, { id: 'whole', headers });
  const job = await until('it has completed', async () => {
    const found = await app.inspector.job(id);
    return found?.state === 'completed' && found;
  });
  expect(app.get(Handlers).seen).toEqual([[{ login: SECRET }, headers]]);
  const whole = { payload: { login: SECRET }, headers, result: { login: SECRET, amount: 7 } };
  expect(job).toMatchObject({ ...whole, progress: { login: SECRET, done: 1 } });
  expect(redactionOf(app.inspector).redactJob(job)).toMatchObject({
    payload: { login: '[redacted]' },
    headers: { login: '[redacted]', locale: 'fr' },
    result: { login: '[redacted]', amount: 7 },
    progress: { login: '[redacted]', done: 1 },
  });
});

it('an application under test redacts as well', async () => {
  const tested = new LogLines();
  const module = await Test.createTestingModule({
    imports: [ScheduledQueueTestingModule.forRoot({ redact: ['login'] })],
    providers: [Handlers],
  })
    .setLogger(tested)
    .compile();
  await module.init();
  await module.get(ScheduledQueueProducer).schedule('open', WRONG);
  await module.get(ScheduledQueueTester).drain();
  expect(tested.starting('error')).toEqual([expect.stringContaining('amount: isInt; login: [redacted].')]);
  expect(redactionOf(module.get(ScheduledQueueInspector)).has('login')).toBe(true);
  await module.close();
});

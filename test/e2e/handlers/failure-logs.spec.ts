import { afterEach, describe, expect, it } from '@jest/globals';
import { Inject, type Type, UsePipes, ValidationPipe } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsEmail, ValidateNested } from 'class-validator';
import {
  defineScheduledJob,
  InvalidPayloadError,
  JobOutcome,
  OnScheduledJob,
  type ScheduledQueueEvent,
  ScheduledQueueProducer,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

const SECRET = 'hunter2';
const ONCE = { maxAttempts: 1 };

class Mail {
  @IsEmail() to!: string;
}

class Handlers {
  @OnScheduledJob('aggregate', ONCE)
  aggregate(): void {
    throw Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:1')], ''), { code: 'ECONNREFUSED' });
  }
  @OnScheduledJob('caused', ONCE)
  async caused(): Promise<void> {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' }) });
  }
  @OnScheduledJob('text', ONCE)
  text(): void {
    throw 'boom';
  }
  @OnScheduledJob('said', ONCE)
  said(): JobOutcome {
    return JobOutcome.deadLetter('the account is closed');
  }
  @OnScheduledJob('retried', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: '1h' } })
  retried(): void {
    (undefined as unknown as { send(): void }).send();
  }
}

afterEach(() => stopApps());

async function failureOf(name: string) {
  const log = new LogLines();
  const { producer, inspector, events } = await startApp([Handlers], {}, { log });
  const told: ScheduledQueueEvent[] = [];
  events.events$.subscribe((event) => told.push(event));
  await producer.dispatch(name, { secret: SECRET }, { id: 'r7' });
  await until('it has failed', () => told.some(({ type }) => type === 'failed' || type === 'dead'));
  await until('that is told', () => log.lines.length > 0);
  const job = await inspector.job('r7');
  expect([...log.lines, ...log.stacks.values()].join()).not.toContain(SECRET);
  const { message } = await inspector.explain('r7');
  return { line: log.lines[0]!, stack: log.stacks.get(log.lines[0]!), failure: job!.failures[0]!, explained: message };
}

const dead = (name: string, reason: string) =>
  `error Job '${name}' (r7) of queue 'default' is dead after attempt 1 (${reason}): `;

it('an AggregateError is logged and kept with what its errors say', async () => {
  const { line, stack, failure } = await failureOf('aggregate');
  expect(line).toBe(`${dead('aggregate', 'attempts-exhausted')}AggregateError: Error: connect ECONNREFUSED ::1:1`);
  expect(stack).toMatch(/^AggregateError.*\n {4}at .*failure-logs\.spec\.ts/);
  expect(failure).toMatchObject({
    name: 'AggregateError',
    message: 'Error: connect ECONNREFUSED ::1:1',
    code: 'ECONNREFUSED',
  });
});

it('a cause is logged and kept, and the stack is where the logger of Nest expects it', async () => {
  const { line, stack, failure, explained } = await failureOf('caused');
  expect(line).toBe(
    `${dead('caused', 'attempts-exhausted')}TypeError: fetch failed (cause: Error: closed [UND_ERR_SOCKET])`,
  );
  expect(stack).toMatch(/^TypeError: fetch failed\n {4}at Handlers\.caused .*failure-logs\.spec\.ts/);
  expect(failure).toMatchObject({ message: 'fetch failed', cause: 'Error: closed [UND_ERR_SOCKET]' });
  expect(explained).toContain('fetch failed (cause: Error: closed [UND_ERR_SOCKET])');
});

it('a handler that throws a string is told that there is no stack', async () => {
  const { line, stack, failure } = await failureOf('text');
  expect(line).toBe(`${dead('text', 'attempts-exhausted')}boom (not an Error, so there is no stack)`);
  expect(stack).toBeUndefined();
  expect(failure).toMatchObject({ name: 'string', message: 'boom' });
});

it('the reason of a dead letter is logged as it was given', async () => {
  const { line } = await failureOf('said');
  expect(line).toBe(`${dead('said', 'dead-lettered')}the account is closed`);
});

it('an attempt that will be repeated is logged in one line, with the place in the handler', async () => {
  const { line, stack } = await failureOf('retried');
  expect(line).toMatch(
    /^warn Job 'retried' \(r7\) .* failed in attempt 1: TypeError: Cannot read .* at Handlers\.retried \(.*failure-logs\.spec\.ts:\d+:\d+\); next attempt in 3600000 ms\.$/,
  );
  expect(stack).toBeUndefined();
});

it('what a ValidationPipe refused is logged, and not the value', async () => {
  const sendMail = defineScheduledJob('mail', { payload: Mail, maxAttempts: 1 });
  class Mails {
    @OnScheduledJob(sendMail)
    @UsePipes(new ValidationPipe())
    send(_mail: Mail): void {}
  }
  const log = new LogLines();
  const { producer, inspector } = await startApp([Mails], { validation: false }, { log });
  await producer.dispatch(sendMail, { to: SECRET }, { id: 'r7' });
  await until('it is dead', async () => (await inspector.job('r7'))?.state === 'dead');
  await until('that is told', () => log.lines.length > 0);
  const { failures } = (await inspector.job('r7'))!;
  expect(log.lines).toEqual([expect.stringContaining('to must be an email')]);
  expect(failures[0]!.message).toContain('to must be an email');
  expect(JSON.stringify([log.lines, failures])).not.toContain(SECRET);
});

describe('a message with $value shows the value to who called schedule, and not in logs and failures', () => {
  class Address {
    @IsEmail({}, { message: '$property: $value is no address' })
    to!: string;
  }
  class Letter {
    @ValidateNested()
    @Transform(({ value }) => Object.assign(new Address(), value))
    address!: Address;
  }
  class Parsed {
    @Transform(({ value }) => {
      throw new TypeError(`cannot parse ${value}`);
    })
    to!: string;
  }
  const jobs = {
    letter: defineScheduledJob('letter', { payload: Letter, maxAttempts: 1 }),
    parsed: defineScheduledJob('parsed', { payload: Parsed, maxAttempts: 1 }),
  };

  /** How such a job fares: all that is logged, stored and told of it. */
  async function fate(handlers: Type, name: string, payload: unknown, options: object = {}) {
    const log = new LogLines();
    const { producer, inspector, events } = await startApp([handlers], options, { log });
    const told: (ScheduledQueueEvent & { type: 'dead' })[] = [];
    events.events$.subscribe((event) => void (event.type === 'dead' && told.push(event)));
    // By its name, so that nothing is checked before it is written.
    await producer.dispatch(name, payload, { id: 'r7', maxAttempts: 1 });
    await until('it is dead', () => told.length > 0 && log.lines.length > 0);
    const { failures, reason } = (await inspector.job('r7'))!;
    const { message } = await inspector.explain('r7');
    const error = told[0]!.error as Error;
    const seen = JSON.stringify([log.lines, [...log.stacks.values()], failures, message, error.message, error.stack]);
    expect(seen).not.toContain(SECRET);
    return { failure: failures[0]!, reason, error, line: log.lines[0]! };
  }

  it.each([
    [
      'letter',
      { address: { to: SECRET } },
      'Letter: address.to: isEmail.',
      [{ path: 'address.to', messages: ['isEmail'] }],
    ],
    [
      'parsed',
      { to: SECRET },
      expect.stringMatching(/Parsed: cannot be made one: its transformation threw TypeError at .*failure-logs\.spec/),
      undefined,
    ],
  ] as const)('a payload that does not fit its class: %s', async (name, payload, says, findings) => {
    class Handlers {
      @OnScheduledJob(jobs.letter)
      letter(_: Letter): void {}
      @OnScheduledJob(jobs.parsed)
      parsed(_: Parsed): void {}
    }
    const { failure, reason, error, line } = await fate(Handlers, name, payload);
    const text = typeof says === 'string' ? expect.stringContaining(`does not fit ${says}`) : says;
    expect(failure).toMatchObject({ name: 'InvalidPayloadError', message: text });
    expect(reason).toBe('invalid-payload');
    expect(line).toEqual(text);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    if (findings) expect(error).toMatchObject({ findings });
  });

  it('a handler that lets the error of schedule through', async () => {
    class Handlers {
      constructor(@Inject(ScheduledQueueProducer) private readonly producer: ScheduledQueueProducer) {}

      @OnScheduledJob('outer')
      async outer({ to }: { to: string }): Promise<void> {
        await this.producer.dispatch(jobs.letter, { address: { to } });
      }
    }
    const log = new LogLines();
    const { producer, inspector, events } = await startApp([Handlers], {}, { log });
    const told: string[] = [];
    events.events$.subscribe((event) => {
      if (event.type === 'failed' || event.type === 'dead') told.push((event.error as Error).message);
    });
    const refused = await producer.dispatch(jobs.letter, { address: { to: SECRET } }).catch((error) => error);
    expect(refused.message).toContain(`address.to: to: ${SECRET} is no address`);
    expect(refused.findings).toEqual([{ path: 'address.to', messages: [`to: ${SECRET} is no address`] }]);
    await producer.dispatch('outer', { to: SECRET }, { id: 'r7', maxAttempts: 1 });
    await until('it is dead', () => log.lines.length > 0);
    const { failures } = (await inspector.job('r7'))!;
    expect(failures[0]!.message).toContain('does not fit Letter: address.to: isEmail.');
    expect(JSON.stringify([log.lines, [...log.stacks.values()], failures])).not.toContain(SECRET);
    // Listeners get what the handler threw.
    expect(told).toEqual([refused.message, refused.message]);
  });

  it('a ValidationPipe, whose findings are text alone', async () => {
    class Handlers {
      @OnScheduledJob('mail')
      @UsePipes(new ValidationPipe({ expectedType: Address }))
      send(_: unknown): void {}
    }
    const { failure, line } = await fateOfPipe(Handlers);
    expect(failure.message).toContain('(BadRequestException, 400): to: [value] is no address.');
    expect(failure.cause).toBeUndefined();
    expect(line).toContain('to: [value] is no address.');
  });

  /** Of a payload with a secret that a pipe refuses; listeners find what it threw as the cause. */
  async function fateOfPipe(handlers: Type) {
    const { failure, line, error } = await fate(handlers, 'mail', { to: SECRET });
    expect((error.cause as Error).constructor.name).toBe('BadRequestException');
    return { failure, line };
  }
});

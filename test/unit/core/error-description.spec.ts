import { describe, expect, it } from '@jest/globals';
import { BadRequestException, ForbiddenException } from '@nestjs/common';
import { describeError, errorLine, placeIn } from '../../../lib/core/error-description.js';
import { InvalidPayloadError } from '../../../lib/core/errors.js';
import { showAs } from '../../../lib/core/payload/without-values.js';

const SECRET = 'hunter2';

const refusedAt = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED', syscall: 'connect' });
/** What Node gives for a port of localhost where nobody listens. */
const refused = () =>
  Object.assign(new AggregateError([refusedAt('::1:7311'), refusedAt('127.0.0.1:7311')], ''), { code: 'ECONNREFUSED' });

const looped = new Error('outer');
looped.cause = new TypeError('inner', { cause: looped });

const named = (name: string, message: string, more = {}) => Object.assign(new Error(message), { name, ...more });
const nested = (depth: number): Error =>
  depth === 0 ? new Error('at the bottom') : new Error(`at ${depth}`, { cause: nested(depth - 1) });
const lineOf = (thrown: unknown) => errorLine(describeError(thrown));

const finding = {
  property: 'address',
  target: { secret: SECRET },
  value: SECRET,
  children: [{ property: 'street', value: SECRET, constraints: { isString: 'street must be a string' }, children: [] }],
};

describe('the line of a failure says what was thrown:', () => {
  it.each<[string, unknown, string]>([
    ['name and message', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['the code', named('PrismaError', 'not unique', { code: 'P2002' }), 'PrismaError: not unique [P2002]'],
    [
      'a code that is a number',
      named('MongoError', 'duplicate key', { code: 11000 }),
      'MongoError: duplicate key [11000]',
    ],
    ['a code once', refusedAt('::1:7311'), 'Error: connect ECONNREFUSED ::1:7311'],
    [
      'the errors of an AggregateError without a message',
      refused(),
      'AggregateError: Error: connect ECONNREFUSED ::1:7311; Error: connect ECONNREFUSED 127.0.0.1:7311',
    ],
    [
      'those of one with a message, and how many more there are',
      new AggregateError(
        Array.from({ length: 1_000 }, (_, i) => new Error(`no ${i}`)),
        'all failed',
      ),
      'AggregateError: all failed (Error: no 0; Error: no 1; Error: no 2; Error: no 3; Error: no 4; and 995 more)',
    ],
    [
      'the cause, with its code',
      new TypeError('fetch failed', { cause: named('Error', 'other side closed', { code: 'UND_ERR_SOCKET' }) }),
      'TypeError: fetch failed (cause: Error: other side closed [UND_ERR_SOCKET])',
    ],
    [
      'an AggregateError as the cause',
      new TypeError('fetch failed', { cause: refused() }),
      'TypeError: fetch failed (cause: AggregateError: Error: connect ECONNREFUSED ::1:7311; Error: connect ECONNREFUSED 127.0.0.1:7311)',
    ],
    [
      'a cause that is text',
      new Error('no mail', { cause: 'the server said no' }),
      'Error: no mail (cause: the server said no)',
    ],
    [
      'a cause that the message has said already once',
      new Error('no mail: it said no', { cause: new Error('it said no') }),
      'Error: no mail: it said no',
    ],
    ['a cause that leads back to itself once', looped, 'Error: outer (cause: TypeError: inner)'],
    ['three causes of many', nested(9), 'Error: at 9 (cause: Error: at 8 (cause: Error: at 7 (cause: Error: at 6)))'],
    [
      'what a pipe found',
      new BadRequestException(['email must be an email', 'name should not be empty']),
      'BadRequestException: email must be an email; name should not be empty',
    ],
    [
      'what class-validator found, without the value',
      new BadRequestException([finding]),
      'BadRequestException: street must be a string',
    ],
    ['an HttpException as it is', new ForbiddenException(), 'ForbiddenException: Forbidden'],
    ['text that was thrown', 'boom', 'boom (not an Error, so there is no stack)'],
    ['nothing that was thrown', undefined, 'undefined (not an Error, so there is no stack)'],
    ['an error without a message by its name', new RangeError(), 'RangeError'],
    [
      'a sentence without a stack as it is',
      Object.assign(new Error('its lease ran out'), { stack: undefined }),
      'its lease ran out',
    ],
  ])('%s', (_, thrown, line) => {
    expect(lineOf(thrown)).toBe(line);
  });

  it('never what other responses hold', () => {
    const ofAxios = Object.assign(new Error('Request failed with status code 400'), {
      response: { message: SECRET, data: SECRET },
    });
    expect(lineOf(ofAxios)).toBe('Error: Request failed with status code 400');
    expect(lineOf(new BadRequestException({ email: SECRET }))).toBe('BadRequestException: Bad Request Exception');
  });

  it('in one line, whatever was written into any part of it', () => {
    const forged = 'x\n[Nest] LOG admin\u001b[31m';
    const line = lineOf(
      named(forged, forged, { code: forged, cause: new AggregateError([forged, new Error(forged)], forged) }),
    );
    expect(line.match(/x\\n\[Nest\] LOG admin\\u001b\[31m/g)).toHaveLength(5);
    expect(line).not.toMatch(/\p{C}/u);
  });

  it('shortly, however long its parts are', () => {
    const long = 'y'.repeat(2 ** 20);
    const thrown = named(long, long, {
      code: long,
      cause: new AggregateError(Array(1_000).fill(new Error(long)), long),
    });
    expect(lineOf(thrown).length).toBeLessThan(2_500);
  });

  it('as far as it can be read', () => {
    const hostile = Object.defineProperty(new Error('no mail'), 'cause', {
      get: () => {
        throw new Error('gotcha');
      },
    });
    expect(lineOf(hostile)).toBe('Error: no mail');
    const endless = { property: 'a', children: [] as unknown[] };
    endless.children.push(endless);
    expect(lineOf(new BadRequestException([endless]))).toEqual(expect.any(String));
  });
});

describe('the place of a failure', () => {
  const placeOf = (...lines: string[]) =>
    placeIn(describeError(Object.assign(new Error('no'), { stack: ['Error: no', ...lines].join('\n') })));

  it('is the first in the application itself', () => {
    expect(
      placeOf(
        '    at node:internal/deps/undici/undici:13510:13',
        '    at Array.map (<anonymous>)',
        '    at send (/app/node_modules/mailer/index.js:1:2)',
        '    at Handlers.send (/app/src/handlers.ts:12:5)',
        '    at Handlers.other (/app/src/handlers.ts:13:5)',
      ),
    ).toBe(' at Handlers.send (/app/src/handlers.ts:12:5)');
    expect(placeOf('    at async file:///app/dist/handlers.js:3:9')).toBe(' at async file:///app/dist/handlers.js:3:9');
  });

  it('is left out where nothing tells', () => {
    expect(placeOf()).toBe('');
    expect(placeOf('    at node:internal/process/task_queues:95:5')).toBe('');
    expect(placeIn(describeError('boom'))).toBe('');
  });
});

describe('lines of the message are no places', () => {
  /** What a stranger may have sent, quoted in a message. */
  const quoting = `got x\n    at ${SECRET} (/app/src/a.ts:1:2)\n    at Foo`;
  const marked = () => {
    const fields = { queue: 'q', jobName: 'mail', jobId: 'r7' };
    return showAs(new InvalidPayloadError(quoting, [], fields), { message: 'to: isEmail', findings: [] });
  };

  it('of an error whose message is shown', () => {
    const description = describeError(new Error(quoting));
    expect(description.stack).toMatch(/^Error: got x\\n {4}at hunter2 .*Foo\n {4}at .*error-description\.spec/);
    expect(placeIn(description)).toMatch(/^ at .*error-description\.spec/);
  });

  it('of an error whose message must not be shown', () => {
    const description = describeError(marked());
    expect(description.stack).toMatch(/^InvalidPayloadError: to: isEmail\n {4}at .*error-description\.spec/);
    expect(JSON.stringify(description)).not.toContain(SECRET);
    expect(placeIn(description)).toMatch(/^ at .*error-description\.spec/);
  });

  it.each<[string, (error: Error) => Partial<Error>]>([
    ['its message was changed since', ({ message }) => ({ message: `mail: ${message}` })],
    ['its message was emptied', () => ({ message: '' })],
    ['its message was cut', ({ message }) => ({ message: message.slice(0, 4) })],
    ['another stack was added', ({ stack, message }) => ({ stack: `${stack}\nCaused by: Error: ${message}` })],
  ])('of one, where %s', (_, change) => {
    const error = marked();
    // A stack may be written when it is first read.
    expect(error.stack).toContain(SECRET);
    Object.assign(error, change(error));
    const description = describeError(error, 100);
    expect(description.stack).toMatch(/^InvalidPayloadError: to: isEmail/);
    expect(JSON.stringify(description)).not.toContain(SECRET);
  });

  it('and all places stay of an error that got another message, where it may be shown', () => {
    const error = new Error('no mail');
    expect(error.stack).toContain('Error: no mail');
    error.message = `r7: ${error.message}`;
    expect(describeError(error).stack).toMatch(/^Error: no mail\n {4}at .*error-description\.spec/);
  });
});

import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsDate,
  IsEmail,
  IsInt,
  IsOptional,
  IsString,
  IsUppercase,
  Length,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { describeError } from '../../../../lib/core/error-description.js';
import { InvalidPayloadError } from '../../../../lib/core/errors.js';
import {
  PayloadChecker,
  type PayloadClass,
  type ValidationOptions,
} from '../../../../lib/core/payload/payload-class.js';
import { Redaction } from '../../../../lib/core/payload/redaction.js';
import { rejected } from '../../thrown.js';

class Address {
  @IsString() street!: string;
  @MinLength(2) country!: string;
}

class Reminder {
  @IsInt() userId!: number;
  @IsEmail() email!: string;
  @IsOptional() @Type(() => Date) @IsDate() remindAt?: Date;
  @IsOptional() @ValidateNested() @Type(() => Address) address?: Address;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Address) others?: Address[];
  @IsOptional() @ArrayNotEmpty() tags?: string[];

  greeting(): string {
    return `Dear ${this.email}`;
  }
}

const FIELDS = { queue: 'mail', jobName: 'reminder.send', jobId: 'r7' };
const FITTING = { userId: 7, email: 'a@b.co' };

function read(payload: unknown, validation: ValidationOptions = {}, type: PayloadClass | undefined = Reminder) {
  return new PayloadChecker(validation).read(JSON.stringify(payload), type, FIELDS);
}

const refused = (payload: unknown, validation?: ValidationOptions, type?: PayloadClass) =>
  rejected<InvalidPayloadError>(read(payload, validation, type));

describe('a payload that fits its class', () => {
  it('arrives as an instance of it, methods and all', async () => {
    const payload = (await read(FITTING)) as Reminder;
    expect(payload).toBeInstanceOf(Reminder);
    expect(payload).toEqual(FITTING);
    expect(payload.greeting()).toBe('Dear a@b.co');
  });

  it('has real dates where the class says @Type(() => Date)', async () => {
    const payload = (await read({ ...FITTING, remindAt: new Date(1_000) })) as Reminder;
    expect(payload.remindAt).toEqual(new Date(1_000));
  });

  it('has instances of nested classes', async () => {
    const address = { street: 'Main 1', country: 'CH' };
    const payload = (await read({ ...FITTING, address, others: [address] })) as Reminder;
    expect(payload.address).toBeInstanceOf(Address);
    expect(payload.others![0]).toBeInstanceOf(Address);
  });

  it('keeps properties that its class does not know', async () => {
    expect(await read({ ...FITTING, source: { campaign: 7 } })).toEqual({ ...FITTING, source: { campaign: 7 } });
  });

  it('needs no decorators', async () => {
    class Plain {}
    const payload = await read({ any: 1 }, {}, Plain);
    expect(payload).toBeInstanceOf(Plain);
    expect(payload).toEqual({ any: 1 });
  });

  it('pollutes nothing by a property named __proto__', async () => {
    const text = '{"userId":7,"email":"a@b.co","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}';
    const payload = (await new PayloadChecker({}).read(text, Reminder, FIELDS)) as Reminder & { admin?: boolean };
    expect(payload).toBeInstanceOf(Reminder);
    expect(payload.admin).toBeUndefined();
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
    expect(new Reminder()).not.toHaveProperty('admin');
  });
});

describe('a payload that does not fit its class is refused', () => {
  it('with every finding, and says whose payload it is', async () => {
    const error = await refused({ userId: 'seven', email: 'a' });
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(
      `The payload of job 'reminder.send' does not fit Reminder: userId: userId must be an integer number; email: email must be an email.`,
    );
    expect(error.findings).toEqual([
      { path: 'userId', messages: ['userId must be an integer number'] },
      { path: 'email', messages: ['email must be an email'] },
    ]);
    expect(error).toMatchObject({ code: 'INVALID_PAYLOAD', ...FIELDS });
  });

  it('with all that is wrong with a property', async () => {
    class Code {
      @Length(2, 2) @IsUppercase() code!: string;
    }
    const error = await refused({ code: 'chf' }, {}, Code);
    expect(error.message).toBe(
      `The payload of job 'reminder.send' does not fit Code: code: ${error.findings[0]!.messages.join(', ')}.`,
    );
    expect(error.findings[0]!.messages.sort()).toEqual([
      'code must be shorter than or equal to 2 characters',
      'code must be uppercase',
    ]);
  });

  it('with the path into nested objects and lists', async () => {
    const error = await refused({
      ...FITTING,
      address: { street: 5, country: 'CH' },
      others: [
        { street: 'Main 1', country: 'CH' },
        { street: 'Main 2', country: '' },
      ],
    });
    expect(error.findings).toEqual([
      { path: 'address.street', messages: ['street must be a string'] },
      { path: 'others.1.country', messages: ['country must be longer than or equal to 2 characters'] },
    ]);
  });

  it('where a date is none', async () => {
    expect((await refused({ ...FITTING, remindAt: 'soon' })).findings).toEqual([
      { path: 'remindAt', messages: ['remindAt must be a Date instance'] },
    ]);
  });

  it.each([
    [null, 'null'],
    [[], 'an array of 0'],
    [[FITTING], 'an array of 1'],
    ['text', 'a string of 4 characters'],
    [7, 'a number'],
    [true, 'a boolean'],
  ])('where it is no object: %j', async (payload, shown) => {
    for (const validation of [{}, false] as const) {
      const error = await refused(payload, validation);
      expect(error.message).toBe(
        `The payload of job 'reminder.send' does not fit Reminder: got ${shown}, expected an object.`,
      );
      expect(error.findings).toEqual([{ path: '', messages: [`got ${shown}, expected an object`] }]);
    }
  });

  it('where there is none', async () => {
    const error = await rejected(new PayloadChecker({}).read('', Reminder, FIELDS));
    expect(error.message).toContain('got undefined, expected an object');
  });

  it('where a transformation of its class throws', async () => {
    class Priced {
      @Transform(({ value }) => value.trim()) price!: string;
    }
    const error = await refused({ price: 7 }, {}, Priced);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error.message).toBe(
      `The payload of job 'reminder.send' does not fit Priced: cannot be made one: value.trim is not a function.`,
    );
    expect(error.cause).toBeInstanceOf(TypeError);
    expect(error.jobId).toBe('r7');
  });

  it.each<[string, (message: string) => Error]>([
    ['quotes the value', (message) => new TypeError(message)],
    [
      'quotes it in a message that was changed',
      (message) => {
        const error = new TypeError(message);
        // A stack may be written when it is first read.
        expect(error.stack).toContain('hunter2');
        error.message = 'no';
        return error;
      },
    ],
  ])('and logs do not show the value where a transformation %s', async (_, errorOf) => {
    class Parsed {
      @Transform(({ value }) => {
        throw errorOf(`cannot parse ${value}`);
      })
      to!: string;
    }
    const error = await refused({ to: 'x\n    at hunter2 (/app/a.ts:1:2)' }, {}, Parsed);
    const description = describeError(error);
    expect(description.message).toContain('cannot be made one: its transformation threw TypeError');
    expect(JSON.stringify(description)).not.toContain('hunter2');
  });

  describe('of a redacted property', () => {
    class Card {
      @Length(16, 16, { message: '$value is no number of a card' }) number!: string;
    }
    class Order {
      @IsEmail({}, { message: '$value is no address' }) email!: string;
      @IsInt({ message: '$value is no amount' }) amount!: number;
      @ValidateNested() @Type(() => Card) card!: Card;
    }
    const order = { email: 'hunter2', amount: 'seven', card: { number: '4111' } };

    it('the error tells only which it is, and so does what logs show of it', async () => {
      const checker = new PayloadChecker({}, new Redaction(['email', 'card']));
      const error = await rejected<InvalidPayloadError>(checker.check(order, Order, FIELDS));
      expect(error.findings).toEqual([
        { path: 'email', messages: ['[redacted]'] },
        { path: 'amount', messages: ['seven is no amount'] },
        { path: 'card', messages: ['[redacted]'] },
      ]);
      expect(error.message).toContain('email: [redacted]; amount: seven is no amount; card: [redacted].');
      expect(describeError(error).message).toContain('email: [redacted]; amount: isInt; card: [redacted].');
    });

    it('inside of others too, whose own findings are told', async () => {
      const checker = new PayloadChecker({}, new Redaction(['number']));
      const error = await rejected<InvalidPayloadError>(checker.check(order, Order, FIELDS));
      expect(error.message).toContain('email: hunter2 is no address');
      expect(error.message).toContain('card.number: [redacted].');
    });
  });

  it('by the options of class-validator that the module was given', async () => {
    const error = await refused({ ...FITTING, admin: true }, { whitelist: true, forbidNonWhitelisted: true });
    expect(error.findings).toEqual([{ path: 'admin', messages: ['property admin should not exist'] }]);
  });
});

describe('a payload is not checked', () => {
  it('where validation is false, but is an instance all the same', async () => {
    const payload = await read({ userId: 'seven' }, false);
    expect(payload).toBeInstanceOf(Reminder);
    expect(payload).toEqual({ userId: 'seven' });
  });

  it.each([[null], ['text'], [[1, 2]]])('where its job has no class: %j', async (payload) => {
    const checker = new PayloadChecker({});
    expect(await checker.read(JSON.stringify(payload), undefined, FIELDS)).toEqual(payload);
  });
});

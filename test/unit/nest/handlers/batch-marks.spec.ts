import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from '../../../../lib/core/errors.js';
import { resolveRunSettings } from '../../../../lib/core/options/run-settings.js';
import {
  HANDLER_METADATA,
  type HandlerMark,
  OnScheduledJob,
} from '../../../../lib/nest/handlers/on-scheduled-job.decorator.js';
import { markedHandlers } from '../../../../lib/nest/handlers/repeated-marks.js';
import { readJobs, unhandledOverrides } from '../../../../lib/nest/job-overrides.js';
import { thrown } from '../../thrown.js';

/** The marks that decorators with these options leave on `Rows.insert`. */
function marksOf(...all: object[]): HandlerMark[] {
  class Rows {
    insert(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Rows.prototype, 'insert')!;
  for (const options of all) OnScheduledJob('row', options)(Rows.prototype, 'insert', descriptor);
  return Reflect.getMetadata(HANDLER_METADATA, Rows.prototype.insert);
}

describe('batch of a decorator', () => {
  it('is read into numbers, with a wait of 0 where none is given', () => {
    expect(marksOf({ batch: { size: 2 } })[0]!.own).toEqual({ batch: { size: 2, waitMs: 0 } });
    expect(marksOf({ batch: { waitMs: '1m', size: 500 }, weight: 2 })[0]!.own).toEqual({
      batch: { size: 500, waitMs: 60_000 },
      weight: 2,
    });
    expect(marksOf({ batch: undefined })[0]!.own).toEqual({});
  });

  it.each([
    [{}, 'batch: size: got undefined, expected a whole number from 2 to 500.'],
    [{ size: undefined, waitMs: 5 }, 'batch: size: got undefined, expected a whole number from 2 to 500.'],
    [{ size: 1 }, 'batch: size: got 1, expected a whole number from 2 to 500.'],
    [{ size: 501 }, 'batch: size: got 501, expected a whole number from 2 to 500.'],
    [{ size: 2.5 }, 'batch: size: got 2.5, expected a whole number from 2 to 500.'],
    [{ size: Number.NaN }, 'batch: size: got NaN, expected a whole number from 2 to 500.'],
    [{ size: '100' }, 'batch: size: got "100", expected a whole number from 2 to 500.'],
    [{ size: 2, waitMs: -1 }, 'batch: waitMs: got -1, expected'],
    [{ size: 2, waitMs: '2m' }, 'batch: waitMs: got "2m", expected at most 60000 ms.'],
    [{ size: 2, wait: 5 }, `batch: unknown option "wait", did you mean 'waitMs'?`],
    [100, 'batch: got 100, expected an object of options (size, waitMs).'],
    [true, 'batch: got true, expected an object of options (size, waitMs).'],
    [null, 'batch: got null, expected an object of options (size, waitMs).'],
  ])('of %j is refused with the class and the method', (batch, message) => {
    const error = thrown<InvalidOptionsError>(() => marksOf({ batch, queue: 'rows' }));
    expect(error).toBeInstanceOf(InvalidOptionsError);
    expect(error.message).toContain(`@OnScheduledJob('row') on Rows.insert: ${message}`);
    expect(error).toMatchObject({ queue: 'rows', jobName: 'row' });
  });

  it('may stand in one or in each of several marks, however it is written', () => {
    const recurrence = { cron: '@daily', recurrenceId: 'other' };
    const same = marksOf(
      { batch: { size: 5 } },
      { batch: { waitMs: '0s', size: 5 }, ...recurrence },
      { cron: '@hourly' },
    );
    const handlers = markedHandlers(same, 'here');
    expect(handlers).toHaveLength(1);
    expect(handlers[0]!.mark.own.batch).toEqual({ size: 5, waitMs: 0 });
    expect(handlers[0]!.recurrences).toHaveLength(2);
  });

  it.each([[{ size: 6 }], [{ size: 5, waitMs: 1 }]])('of several marks may not differ: %j', (batch) => {
    const marks = marksOf({ batch: { size: 5 } }, { batch, cron: '@daily' });
    expect(() => markedHandlers(marks, 'Rows.insert (RowModule)')).toThrow(
      "Rows.insert (RowModule): @OnScheduledJob('row') stands here several times, with different values of batch",
    );
  });
});

describe("batch in the module's jobs", () => {
  const override = (batch: object | undefined) => readJobs({ row: { batch } }, 'here').get('row');
  const own = { batch: { size: 100, waitMs: 400 } };

  it.each([
    [{ size: 50 }, { size: 50, waitMs: 400 }],
    [{ waitMs: '2s' }, { size: 100, waitMs: 2_000 }],
    [
      { waitMs: 0, size: 2 },
      { size: 2, waitMs: 0 },
    ],
    [{ size: undefined }, { size: 100, waitMs: 400 }],
    [{}, { size: 100, waitMs: 400 }],
    [undefined, { size: 100, waitMs: 400 }],
  ])('of %j over { size: 100, waitMs: 400 } makes %j', (batch, settings) => {
    expect(resolveRunSettings(override(batch), own).batch).toEqual(settings);
  });

  it.each([
    [{ size: 1 }, 'size: got 1, expected a whole number from 2 to 500.'],
    [false, 'got false, expected an object of options (size, waitMs).'],
  ])('of %j is refused', (batch, message) => {
    expect(() => override(batch as object)).toThrow(`here: jobs['row']: batch: ${message}`);
  });

  it('of a name that nobody handles is told at start, as it holds for handlers only', () => {
    expect(unhandledOverrides(readJobs({ row: { batch: { size: 5 } } }, 'here'), ['mail'])).toEqual([
      "The option jobs names 'row', which no handler of this process handles, and what it says of batch holds for handlers only.",
    ]);
  });
});

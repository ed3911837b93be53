import { beforeEach, describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import { PayloadWriter } from '../../../../lib/api/payload-writer.js';
import { readRule } from '../../../../lib/core/calendar/read-rule.js';
import {
  DuplicateHandlerError,
  InvalidOptionsError,
  InvalidPayloadError,
  InvalidScheduleError,
} from '../../../../lib/core/errors.js';
import { defineScheduledJob } from '../../../../lib/core/job/definition.js';
import { resolveRunSettings } from '../../../../lib/core/options/run-settings.js';
import { Codecs } from '../../../../lib/core/payload/codecs.js';
import { PayloadChecker } from '../../../../lib/core/payload/payload-class.js';
import { DeclaredRecurrences } from '../../../../lib/nest/handlers/declared-recurrences.js';
import {
  HANDLER_METADATA,
  type HandlerMark,
  type HandlerOptions,
  OnScheduledJob,
} from '../../../../lib/nest/handlers/on-scheduled-job.decorator.js';
import { markedHandlers } from '../../../../lib/nest/handlers/repeated-marks.js';
import type { JobOverride } from '../../../../lib/nest/job-overrides.js';
import { HandlerRegistry } from '../../../../lib/worker/run/job-handler.js';

const DAILY = { cron: '0 7 * * *' };
const HOURLY = { cron: '0 * * * *' };

class Period {
  @IsInt() days!: number;
}
const report = defineScheduledJob('report', { payload: Period, queue: 'reports', priority: 3, tags: ['paper'] });

let payloads: PayloadWriter;
let overrides: Map<string, JobOverride>;

beforeEach(() => {
  payloads = new PayloadWriter(new Codecs(), new PayloadChecker({}), 1_000);
  overrides = new Map();
});

/** The marks that decorators with these options leave on a method. */
function marksOf(...all: [job: string | typeof report, options?: HandlerOptions<never>][]): HandlerMark[] {
  class Jobs {
    run(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Jobs.prototype, 'run')!;
  for (const [job, options] of all) OnScheduledJob(job as string, options)(Jobs.prototype, 'run', descriptor);
  return Reflect.getMetadata(HANDLER_METADATA, Jobs.prototype.run);
}

/** What methods with these decorators declare: one method after the other. */
async function declared(...methods: Parameters<typeof marksOf>[]) {
  const found = new DeclaredRecurrences(overrides);
  for (const [i, marks] of methods.entries()) {
    const place = `Jobs.run${i} (JobModule)`;
    for (const handler of markedHandlers(marksOf(...marks), place)) found.add(handler, place);
  }
  await found.check(payloads);
  return found.declarations(payloads, () => true);
}

describe('a decorator with a rule', () => {
  it('declares a recurrence under the name of its job, in the queue of its job', async () => {
    const all = await declared([[report, { ...DAILY, limit: 3, recurrencePayload: { days: 7 } as never }]]);
    expect([...all.keys()]).toEqual(['reports']);
    expect(all.get('reports')).toEqual([
      {
        place: 'Jobs.run0 (JobModule)',
        declaration: {
          id: 'report',
          rule: readRule({ ...DAILY, limit: 3 }, 'here'),
          job: { name: 'report', priority: 3, tags: ['paper'], settings: {}, payload: '{"days":7}' },
        },
      },
    ]);
  });

  it('needs no payload where the job has none', async () => {
    const all = await declared([['sweep', DAILY]]);
    expect(all.get('default')).toMatchObject([{ declaration: { id: 'sweep', job: { name: 'sweep', payload: '' } } }]);
  });

  it('may be repeated with other ids, and its options may stand in any of them', async () => {
    const marks = marksOf(
      ['sweep', { ...DAILY, concurrency: 2 }],
      ['sweep', { ...HOURLY, recurrenceId: 'sweep/often' }],
    );
    const [handler, ...others] = markedHandlers(marks, 'here');
    expect(others).toEqual([]);
    expect(handler!.mark.own).toEqual({ concurrency: 2 });
    expect(handler!.recurrences.map(({ id }) => id)).toEqual([undefined, 'sweep/often']);
  });

  it('may stand beside one without a rule', async () => {
    expect(markedHandlers(marksOf(['sweep', { concurrency: 2 }], ['sweep', DAILY]), 'here')).toHaveLength(1);
  });
});

describe('the start is refused by', () => {
  it('a malformed rule, which names class and method', async () => {
    const refused = declared([['sweep', { cron: 'now and then' }]]);
    await expect(refused).rejects.toThrow(InvalidScheduleError);
    await expect(refused).rejects.toThrow(`Jobs.run0 (JobModule): @OnScheduledJob('sweep'): cron`);
    await expect(refused).rejects.toMatchObject({ queue: 'default', jobName: 'sweep' });
  });

  it('both or neither of cron and everyMs', async () => {
    await expect(declared([['sweep', { ...DAILY, everyMs: '1h' }]])).rejects.toThrow(InvalidScheduleError);
    await expect(declared([['sweep', { recurrencePayload: 1 as never }]])).rejects.toThrow(InvalidScheduleError);
  });

  it('a payload that does not fit its class', async () => {
    const refused = declared([[report, { ...DAILY, recurrencePayload: { days: 'seven' } as never }]]);
    await expect(refused).rejects.toThrow(InvalidPayloadError);
    await expect(refused).rejects.toThrow(`Jobs.run0 (JobModule): recurrencePayload of recurrence 'report': `);
  });

  it.each<[string, Parameters<typeof marksOf>[0], JobOverride]>([
    ['by a decorator', [report, DAILY], {}],
    ['by the module', [report], { recurrence: readRule(DAILY, 'here') }],
    ['for a name with a class', ['report', { ...DAILY, payload: Period }], {}],
  ])('a rule without a payload where the payload has a class, given %s', async (_, marks, override) => {
    overrides.set('report', override);
    const refused = declared([marks]);
    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(
      `Jobs.run0 (JobModule): @OnScheduledJob('report') declares recurrence 'report' without a payload, expected a Period for each occurrence. Give the decorator recurrencePayload.`,
    );
  });

  it('two declarations of one id in one queue, and names both', async () => {
    const refused = declared([['sweep', DAILY]], [['mop', { ...DAILY, recurrenceId: 'sweep' }]]);
    await expect(refused).rejects.toThrow(InvalidOptionsError);
    await expect(refused).rejects.toThrow(
      `Recurrence 'sweep' of queue 'default' is declared twice: by Jobs.run0 (JobModule) and by Jobs.run1 (JobModule).`,
    );
    await expect(
      declared([
        ['sweep', DAILY],
        ['sweep', HOURLY],
      ]),
    ).rejects.toThrow('is declared twice');
  });

  it('decorators of one job that contradict each other', () => {
    const marks = marksOf(['sweep', { ...DAILY, weight: 1 }], ['sweep', { ...HOURLY, recurrenceId: 'b', weight: 2 }]);
    expect(() => markedHandlers(marks, 'here')).toThrow(`with different values of weight (1 and 2)`);
  });

  it('two decorators of one job without rules', () => {
    const registry = new HandlerRegistry();
    const add = () => {
      for (const { queue, mark } of markedHandlers(marksOf(['sweep'], ['sweep']), 'here'))
        registry.add({ queue, name: mark.name, place: 'here', settings: resolveRunSettings(), run() {} });
    };
    expect(add).toThrow(DuplicateHandlerError);
  });
});

describe('recurrence in the module option jobs', () => {
  const hourly = readRule(HOURLY, 'here');

  it('takes the place of the rule, and leaves id and payload', async () => {
    overrides.set('sweep', { recurrence: hourly });
    const all = await declared([['sweep', { ...DAILY, recurrenceId: 'night', recurrencePayload: 1 as never }]]);
    expect(all.get('default')).toMatchObject([{ declaration: { id: 'night', rule: hourly, job: { payload: '1' } } }]);
  });

  it('declares one where the decorator has none', async () => {
    overrides.set('sweep', { recurrence: hourly });
    const all = await declared([['sweep']]);
    expect(all.get('default')).toMatchObject([{ declaration: { id: 'sweep', rule: hourly } }]);
  });

  it('switches off all that the handler declares where it is false', async () => {
    overrides.set('sweep', { recurrence: false });
    const all = await declared([
      ['sweep', DAILY],
      ['sweep', { ...HOURLY, recurrenceId: 'b' }],
    ]);
    expect(all.get('default')!.map(({ declaration }) => declaration)).toEqual([
      { id: 'sweep', isOff: true },
      { id: 'b', isOff: true },
    ]);
  });

  it('does not hide a bad rule of the decorator', async () => {
    overrides.set('sweep', { recurrence: false });
    await expect(declared([['sweep', { cron: 'now and then' }]])).rejects.toThrow(InvalidScheduleError);
  });

  it('is refused with a rule where the handler declares several', async () => {
    overrides.set('sweep', { recurrence: hourly });
    const refused = declared([
      ['sweep', DAILY],
      ['sweep', { ...HOURLY, recurrenceId: 'b' }],
    ]);
    await expect(refused).rejects.toThrow(`declares the recurrences 'sweep', 'b'`);
  });
});

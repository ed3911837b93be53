import { afterEach, describe, expect, it } from '@jest/globals';
import { IsInt } from 'class-validator';
import {
  defineScheduledJob,
  InvalidPayloadError,
  InvalidScheduleError,
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledQueueInspector,
} from '../../../lib/index.js';
import { LogLines } from '../../support/log-lines.js';
import { newPrefix, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

afterEach(stopApps);

class Period {
  @IsInt() days!: number;
}
const report = defineScheduledJob('report', { payload: Period, queue: 'reports' });

class Reports {
  readonly runs: { id: string; days: number }[] = [];

  @OnScheduledJob(report, { everyMs: 500, recurrencePayload: { days: 7 } })
  build(period: Period, job: { id: string }): void {
    expect(period).toBeInstanceOf(Period);
    this.runs.push({ id: job.id, days: period.days });
  }
}

class Often {
  readonly ids: string[] = [];

  @OnScheduledJob('sweep', { everyMs: 400 })
  @OnScheduledJob('sweep', { cron: '* * * * * *', recurrenceId: 'sweep/cron' })
  sweep(_: unknown, job: { id: string }): void {
    this.ids.push(job.id);
  }
}

class Daily {
  @OnScheduledJob('sweep', { cron: '0 3 * * *' })
  sweep(): void {}
}

class Undeclared {
  @OnScheduledJob('sweep')
  sweep(): void {}
}

/** The occurrences that wait, as "<recurrence id> <time in UTC>". */
async function armed(inspector: ScheduledQueueInspector, queue = 'default'): Promise<string[]> {
  const jobs = await inspector.list('scheduled', { queue });
  return jobs.map(({ id, dueAt }) => `${id.split('@')[0]} ${dueAt.toISOString().slice(11, 19)}`).sort();
}

describe('a decorator with a rule', () => {
  it('runs its job at each instant of the rule, each with the payload, as an instance of its class', async () => {
    const { get } = await startApp([Reports]);
    const { runs } = get(Reports);
    await until('three have run', () => runs.length >= 3);
    const instants = runs.map(({ id }) => Number(id.match(/^report@(\d+)$/)![1]));
    expect(instants.slice(0, 3)).toEqual([0, 500, 1_000].map((ms) => instants[0]! + ms));
    expect(instants[0]! % 500).toBe(0);
    expect(runs[0]!.days).toBe(7);
  });

  it('has one job an instant, however many processes declare it', async () => {
    const prefix = newPrefix();
    const apps = await Promise.all([1, 2, 3].map(() => startApp([Reports], { prefix })));
    const runs = () => apps.flatMap(({ get }) => get(Reports).runs.map(({ id }) => id));
    await until('six have run', () => runs().length >= 6);
    const ids = runs().sort();
    expect(new Set(ids).size).toBe(ids.length);
    const instants = ids.map((id) => Number(id.split('@')[1]));
    expect(instants.map((at, i) => at - instants[0]! - 500 * i)).toEqual(instants.map(() => 0));
  });

  it('may stand on one method several times, with other ids', async () => {
    const { get } = await startApp([Often]);
    const { ids } = get(Often);
    const count = (beginning: string) => ids.filter((id) => id.startsWith(beginning)).length;
    await until('both have run twice', () => count('sweep@') >= 2 && count('sweep/cron@') >= 2);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is declared when start() is called, where autoStart is false', async () => {
    const { inspector, consumer } = await startApp([Daily], { autoStart: false });
    expect(await armed(inspector)).toEqual([]);
    await consumer.start();
    await until('it is armed', async () => (await armed(inspector)).length === 1);
  });

  it('is not declared by a process that only produces', async () => {
    const prefix = newPrefix();
    const { inspector, producer } = await startApp([Daily], { prefix, role: 'producer' });
    // The queue of a process that declares is there by the time this has been answered.
    const { inspector: other } = await startApp([Daily], { prefix: newPrefix() });
    await until('another one is armed', async () => (await armed(other)).length === 1);
    await producer.cancel('nothing');
    expect(await armed(inspector)).toEqual([]);
  });
});

describe('the application does not start', () => {
  it.each<RedisScheduledQueueModuleOptions['role']>(['both', 'producer'])(
    'with a bad rule, with role %s',
    async (role) => {
      class Jobs {
        @OnScheduledJob('sweep', { cron: '0/5 * * * *' })
        sweep(): void {}
      }
      const start = startApp([Jobs], { role });
      await expect(start).rejects.toThrow(InvalidScheduleError);
      await expect(start).rejects.toThrow(/^Jobs\.sweep \(RootTestModule\): @OnScheduledJob\('sweep'\): cron: .*\*\/5/);
    },
  );

  it.each<RedisScheduledQueueModuleOptions['role']>(['both', 'producer'])(
    'with a bad payload, with role %s',
    async (role) => {
      class Jobs {
        @OnScheduledJob(report, { cron: '@daily', recurrencePayload: { days: 1.5 } })
        sweep(_: Period): void {}
      }
      const start = startApp([Jobs], { role });
      await expect(start).rejects.toThrow(InvalidPayloadError);
      await expect(start).rejects.toThrow(
        `Jobs.sweep (RootTestModule): recurrencePayload of recurrence 'report': The payload of job 'report' does not fit Period: days`,
      );
    },
  );

  it('with a bad rule from configuration', async () => {
    const start = startApp([Daily], { jobs: { sweep: { recurrence: { cron: 'daily' } } } });
    await expect(start).rejects.toThrow(InvalidScheduleError);
    await expect(start).rejects.toThrow(`RedisScheduledQueueModule: jobs['sweep']: recurrence: cron`);
  });

  it(`where orphans are to be removed and the app has no name`, async () => {
    await expect(startApp([], { orphanedRecurrences: 'remove' })).rejects.toThrow(
      `RedisScheduledQueueModule: orphanedRecurrences: got 'remove' and no app, expected app as well`,
    );
  });
});

describe('recurrence in the module option jobs', () => {
  it('takes the place of the rule', async () => {
    const { inspector } = await startApp([Daily], { jobs: { sweep: { recurrence: { cron: '0 4 * * *' } } } });
    await until('it is armed', async () => (await armed(inspector)).length === 1);
    expect(await armed(inspector)).toEqual(['sweep 04:00:00']);
  });

  it('declares one where the decorator has none', async () => {
    const { inspector } = await startApp([Undeclared], { jobs: { sweep: { recurrence: { cron: '0 4 * * *' } } } });
    await until('it is armed', async () => (await armed(inspector)).length === 1);
  });

  it('switches it off for all processes where it is false, and another start with the rule switches it on', async () => {
    const prefix = newPrefix();
    const { inspector } = await startApp([Daily], { prefix });
    await until('it is armed', async () => (await armed(inspector)).length === 1);
    await startApp([Daily], { prefix, jobs: { sweep: { recurrence: false } } });
    await until('it is armed no more', async () => (await armed(inspector)).length === 0);
    await startApp([Daily], { prefix });
    await until('it is armed again', async () => (await armed(inspector)).length === 1);
  });
});

it('what is declared is told nowhere where all is well', async () => {
  const log = new LogLines();
  const { inspector } = await startApp([Daily], {}, { log });
  await until('it is armed', async () => (await armed(inspector)).length === 1);
  expect(log.lines).toEqual([]);
});

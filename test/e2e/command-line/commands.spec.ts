import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { COMMANDS } from '../../../lib/command-line/commands.js';
import type { Finding } from '../../../lib/command-line/doctor/finding.js';
import {
  OnScheduledJob,
  type RedisScheduledQueueModuleOptions,
  type ScheduledJob,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { type Ended, runProgram, typed } from '../../support/command-line.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TestCluster } from '../../support/redis-cluster.js';
import { TestSentinels } from '../../support/redis-sentinel.js';
import { until } from '../../support/wait.js';

// Every command against a queue of 10 000 jobs, as text and JSON, without a terminal and with somebody to be asked.

const JOBS = 10_000;
const QUEUE = 'mail';
const DEAD = { 'mail.send': 30, 'report.build': 20 } as const;

@Injectable()
class Handlers {
  @OnScheduledJob('mail.send', { queue: QUEUE })
  send(): void {
    throw new UnrecoverableJobError('the server answered 550\u001b[2J');
  }

  @OnScheduledJob('report.build', { queue: QUEUE })
  build(): void {
    throw new UnrecoverableJobError('no such report');
  }

  @OnScheduledJob('call.make', { queue: QUEUE })
  async call(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
  }
}

interface Server {
  connection: RedisScheduledQueueModuleOptions['connection'];
  /** How the command line is told where it is. */
  args: readonly string[];
  stop(): Promise<unknown>;
}

const url = (nodes: readonly { host: string; port: number }[]) =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(',');

const SERVERS: [string, () => Promise<Server>][] = [
  ['one Redis', async () => ({ connection: redisUrl(), args: ['--url', redisUrl()], stop: async () => {} })],
  [
    'a cluster',
    async () => {
      const cluster = await TestCluster.start();
      const { nodes } = cluster;
      return {
        connection: { cluster: { nodes } },
        args: ['--cluster', '--url', url(nodes)],
        stop: () => cluster.stop(),
      };
    },
  ],
  [
    'sentinels',
    async () => {
      const all = await TestSentinels.start();
      const { sentinels } = all;
      return {
        connection: { sentinels: [...sentinels], name: 'main' },
        args: ['--url', url(sentinels), '--sentinel', 'main'],
        stop: () => all.stop(),
      };
    },
  ],
];

describe.each(SERVERS)('behind %s', (_, start) => {
  const prefix = newPrefix();
  let server: Server;
  let app: QueueApp;
  let asked: readonly string[];

  beforeAll(async () => {
    server = await start();
    asked = [...server.args, '--prefix', prefix];
    app = await startApp([Handlers], {
      connection: server.connection,
      prefix,
      queues: { [QUEUE]: { keepEnded: 10, streamEvents: { maxLength: 1_000 }, globalConcurrency: 7 } },
    });
    const { producer, inspector } = app;
    const names = Object.entries(DEAD).flatMap(([name, count]) => Array<string>(count).fill(name));
    await producer.openSet('import/7', { queue: QUEUE });
    const later = Array.from({ length: JOBS - names.length - 1 }, (_, i) => ({
      job: 'mail.send',
      payload: { to: 'ada@example.com', password: 'hunter2', i },
      options: {
        queue: QUEUE,
        id: `later/${i}`,
        delay: i + 3_600_000,
        tags: i < 5 ? ['order 7'] : [],
        set: i < 23 && i >= 20 ? 'import/7' : undefined,
      },
    }));
    await producer.scheduleMany(later);
    await producer.scheduleMany(
      names.map((job, i) => ({ job, payload: {}, options: { queue: QUEUE, id: `dead/${i}` } })),
    );
    await until('they are dead', async () => (await inspector.counts({ queue: QUEUE })).dead === names.length);
    await producer.dispatch('call.make', {}, { queue: QUEUE, id: 'running' });
    await until('it runs', async () => (await inspector.counts({ queue: QUEUE })).active === 1);
    await producer.upsertRecurrence(
      { id: 'digest', queue: QUEUE },
      'digest.send',
      { password: 'hunter2' },
      { cron: '0 8 * * *' },
    );
  });

  afterAll(async () => {
    await stopApps();
    await server.stop();
  });

  const json = async (...args: string[]) => {
    const { code, out, err } = await typed([...args, '--json', ...asked]);
    expect({ args, code, err }).toEqual({ args, code: 0, err: expect.not.stringMatching(/^nestjs/) });
    expect(out.trimEnd()).not.toContain('\n');
    return JSON.parse(out);
  };
  /** What JSON makes of it. */
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
  const state = async (id: string) => (await app.inspector.job({ id, queue: QUEUE }))?.state;

  it('every command that looks prints as JSON what the inspector or the producer answers', async () => {
    const { inspector, producer } = app;
    const of = { queue: QUEUE };
    const [counts, load, stats] = await Promise.all([inspector.counts(of), inspector.load(of), inspector.stats(of)]);
    expect(counts).toEqual({ scheduled: JOBS - 51 + 1, due: 0, active: 1, completed: 0, dead: 50 });
    expect(load.capacity).toBe(7);
    const [queue] = await inspector.queues();
    expect(await json('queues')).toEqual([plain({ ...queue, counts, load })]);
    expect(await json('stats', QUEUE)).toEqual(plain({ counts, load, stats, paused: false }));
    expect(await json('list', QUEUE)).toEqual([]);
    const scheduled = await inspector.list('scheduled', { ...of, offset: 7, limit: 3 });
    expect(await json('list', QUEUE, 'scheduled', '--offset', '7', '--limit', '3')).toEqual(plain(scheduled));
    expect(await json('list', QUEUE, 'scheduled', '--limit', '2500')).toHaveLength(2_500);
    const job = plain(await inspector.job({ id: 'dead/0', ...of }));
    expect(await json('show', QUEUE, 'dead/0')).toEqual(job);
    expect(await json('explain', QUEUE, 'dead/0')).toEqual(await inspector.explain({ id: 'dead/0', ...of }));
    const [worker] = await json('workers', QUEUE);
    expect(worker).toEqual({ ...plain((await inspector.workers(of))[0]), lastSeenAt: expect.any(String) });
    expect(await json('recurrences', QUEUE)).toEqual(plain(await producer.recurrences(of)));
    const sets = await inspector.sets(of);
    expect(sets).toMatchObject([{ id: 'import/7', state: 'open', total: 3, pending: 3 }]);
    expect(await json('sets', QUEUE)).toEqual(plain(sets));
    const members: { id: string }[] = await json('find', QUEUE, '--set', 'import/7');
    expect(members.map(({ id }) => id).sort()).toEqual(['later/20', 'later/21', 'later/22']);
    expect(await json('find', QUEUE, '--set', 'import/7', '--state', 'dead')).toEqual([]);
  });

  it('doctor finds nothing, but that a restart would lose jobs where it would', async () => {
    const { code, out, err } = await typed(['doctor', '--json', ...asked]);
    const findings: Finding[] = JSON.parse(out);
    const isCluster = asked.includes('--cluster');
    expect(findings.some(({ check }) => check === 'big-queue')).toBe(isCluster);
    const problems = findings.filter(({ level }) => level !== 'ok');
    expect(problems.filter(({ check }) => check !== 'persistence')).toEqual([]);
    if (asked.includes('--sentinel')) expect(problems).toEqual([]);
    if (isCluster) expect(problems).toHaveLength(3);
    expect({ code, err }).toEqual({ code: problems.length > 0 ? 1 : 0, err: '' });
    const text = await typed(['doctor', QUEUE, ...asked], { answers: true });
    expect({ code: text.code, err: text.err }).toEqual({ code, err: '' });
    expect(text.out).toMatch(/^ok {2}.*eviction/m);
    expect(text.out.split('\n').filter((line) => line.length > 100 && !line.includes('--url'))).toEqual([]);
  });

  it('failures counts all dead jobs by kind, most first', async () => {
    const [first, second, ...others] = await json('failures', QUEUE);
    expect(others).toEqual([]);
    expect(first).toEqual({
      name: 'mail.send',
      reason: 'unrecoverable',
      error: String.raw`UnrecoverableJobError: the server answered 550\u001b[2J [UNRECOVERABLE_JOB]`,
      count: 30,
      lastAt: expect.stringMatching(/^\d{4}-.*Z$/),
      jobId: expect.stringMatching(/^dead\//),
    });
    expect(second).toMatchObject({ name: 'report.build', count: 20 });
    const { endedAt } = (await app.inspector.job({ id: first.jobId, queue: QUEUE }))!;
    expect(endedAt).toEqual(new Date(first.lastAt));
  });

  it('find takes every condition', async () => {
    const idsOf = (jobs: { id: string }[]) => jobs.map(({ id }) => id).sort();
    const tagged = ['later/0', 'later/1', 'later/2', 'later/3', 'later/4'];
    expect(idsOf(await json('find', QUEUE, '--tag', 'order 7'))).toEqual(tagged);
    expect(idsOf(await json('find', QUEUE, '--state', 'dead,active', '--name', 'call.make'))).toEqual(['running']);
    expect(await json('find', QUEUE, '--state', 'dead', '--state', 'active')).toHaveLength(51);
    expect(idsOf(await json('find', QUEUE, '--id-prefix', 'later/994'))).toEqual(
      ['later/994', ...Array.from({ length: 9 }, (_, i) => `later/994${i}`)].sort(),
    );
    const at = (await app.inspector.job({ id: 'later/3', queue: QUEUE }))!.dueAt.getTime();
    const bounds = ['--due-from', new Date(at).toISOString(), '--due-to', String(at + 1)];
    expect(idsOf(await json('find', QUEUE, '--id-prefix', 'later/', ...bounds))).toContain('later/3');
    const some = await typed(['find', QUEUE, '--limit', '1500', '--json', ...asked]);
    expect(JSON.parse(some.out)).toHaveLength(1_500);
    expect(some.err).toMatch(/^These are 1500 jobs, and there may be more/);
  });

  it('every text fits 100 columns, holds no control character, and says what to type next', async () => {
    const lines: [string, ...string[]][] = [
      ['queues'],
      ['stats', QUEUE],
      ['list', QUEUE],
      ...['scheduled', 'active', 'completed', 'dead'].map((each) => ['list', QUEUE, each] as [string, ...string[]]),
      ['find', QUEUE, '--state', 'dead,scheduled'],
      ['show', QUEUE, 'dead/0'],
      ['explain', QUEUE, 'running'],
      ['failures', QUEUE],
      ['workers', QUEUE],
      ['recurrences', QUEUE],
      ['sets', QUEUE],
    ];
    for (const line of lines) {
      const { code, out } = await typed([...line, ...asked]);
      const [answer, next] = out.split(/^(?=[^ ].*:\n {2}nestjs-redis-scheduled-queue )/m);
      expect({ line, code, next }).toEqual({ line, code: 0, next: expect.any(String) });
      expect(answer!.split('\n').filter((each) => each.length > 100)).toEqual([]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    }
  });

  it('--redact hides properties at any depth', async () => {
    expect(JSON.stringify(await json('show', QUEUE, 'later/9'))).toContain('hunter2');
    for (const line of [
      ['show', QUEUE, 'later/9'],
      ['list', QUEUE, 'scheduled'],
      ['find', QUEUE, '--id-prefix', 'later/9'],
      ['recurrences', QUEUE],
    ]) {
      const { out } = await typed([...line, '--redact', 'secret,password', '--json', ...asked]);
      expect(out).toContain('"[redacted]"');
      expect(out).not.toContain('hunter2');
    }
    const { out } = await typed(['show', QUEUE, 'later/9', '--redact', 'password', ...asked]);
    expect(out).toContain('"password":"[redacted]"');
    // Typed in as they are, the next commands hide the same.
    expect(out).toMatch(/show mail later\/9 --json .*--redact password$/m);
  });

  it('exits with 1 and names an id that is not there, or in no state for the command', async () => {
    const ended = (...args: string[]) => typed([...args, '--json', ...asked]);
    const rows: [Ended, unknown, string][] = [
      [await ended('show', QUEUE, 'no'), null, `Queue 'mail' has no job 'no'.`],
      [await ended('cancel', QUEUE, 'no', '--yes'), { changed: 0 }, `Queue 'mail' has no job 'no'.`],
      [
        await ended('cancel', QUEUE, 'running', 'later/20', '--yes'),
        { changed: 1 },
        `Job 'running' of queue 'mail' is active, expected a waiting one; --running cancels one that runs.`,
      ],
      [await ended('remove', QUEUE, 'running', '--yes'), { changed: 0 }, 'expected one that does not run.'],
      [await ended('run-now', QUEUE, 'dead/0'), { changed: 0 }, `Job 'dead/0' of queue 'mail' is dead, expected a`],
      [await ended('retry', QUEUE, 'later/21'), { changed: 0 }, 'is scheduled, expected a dead one.'],
      [await ended('resume', QUEUE, '--recurrence', 'digest'), { changed: 0 }, 'is active, expected a paused one.'],
      [await ended('run-now', QUEUE, '--recurrence', 'no'), { changed: 0 }, `has no recurrence 'no'.`],
    ];
    for (const [{ code, out, err }, answer, note] of rows) {
      expect({ code, answer: JSON.parse(out) }).toEqual({ code: 1, answer });
      expect(err.replaceAll('\n', ' ')).toContain(note);
    }
    expect(await ended('explain', QUEUE, 'no')).toMatchObject({ code: 1, out: expect.stringContaining('"unknown"') });
    // Only answers go to stdout: what to type instead is none.
    const { code, out, err } = await typed(['show', QUEUE, 'no', ...asked]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(
      /^Queue 'mail' has no job 'no'\.\nWhat may have become of it:\n {2}nestjs-redis-scheduled-queue explain mail no /,
    );
  });

  it('asks first, does nothing without a terminal but with --yes, and nothing where the answer is no', async () => {
    for (const line of [
      ['cancel', QUEUE, 'later/30'],
      ['remove', QUEUE, 'later/30'],
      ['replay-dead', QUEUE],
      ['purge-dead', QUEUE],
    ]) {
      const nobody = await typed([...line, ...asked]);
      expect(nobody).toEqual({ code: 2, out: '', err: expect.stringContaining('nobody can be asked here') });
      const no = await typed([...line, ...asked], { answers: false });
      expect({ code: no.code, out: no.out }).toEqual({ code: 1, out: 'Nothing was changed.\n' });
      expect(no.err).toMatch(
        /^(Cancel job 'later\/30'|Delete job 'later\/30'|Put back the 50 dead jobs,|Delete the 50 dead jobs,).*'mail'\?\n$/,
      );
    }
    expect(await state('later/30')).toBe('scheduled');
    const yes = await typed(['cancel', QUEUE, 'later/30', 'later/31', ...asked], { answers: true });
    expect(yes).toMatchObject({ code: 0, err: `Cancel 2 jobs of queue 'mail'?\n` });
    expect(yes.out).toMatch(/^2 jobs were cancelled\.\n/);
    // As the worker of the queue keeps what is cancelled.
    expect(await state('later/30')).toBe('cancelled');
    expect(await json('explain', QUEUE, 'later/31')).toMatchObject({ code: 'cancelled' });
  });

  it('changes what it is told to, and says how many', async () => {
    const { inspector, producer } = app;
    expect(await json('cancel', QUEUE, '--tag', 'order 7', '--yes')).toEqual({ changed: 5 });
    expect(await json('remove', QUEUE, 'later/40', 'later/41', '--yes')).toEqual({ changed: 2 });
    expect(await json('cancel', QUEUE, 'running', '--running', '--yes')).toEqual({ changed: 1 });
    await until('it ends', async () => (await inspector.counts({ queue: QUEUE })).active === 0);

    expect(await json('pause', QUEUE)).toEqual({ changed: 1 });
    expect(await inspector.isPaused({ queue: QUEUE })).toBe(true);
    expect((await typed(['explain', QUEUE, 'later/50', ...asked])).out).toMatch(/^not-due\n/);
    expect(await json('run-now', QUEUE, 'later/50', 'later/51')).toEqual({ changed: 2 });
    expect((await json('explain', QUEUE, 'later/50')).code).toBe('paused');
    expect(await json('retry', QUEUE, 'dead/0')).toEqual({ changed: 1 });
    const replay = ['replay-dead', QUEUE, '--name', 'report.build', '--limit', '3', '--per-second', '2', '--yes'];
    expect(await json(...replay)).toEqual({ changed: 3 });
    expect(await json('purge-dead', QUEUE, '--died-before', '2020-01-01T00:00:00Z', '--yes')).toEqual({ changed: 0 });
    expect(await json('purge-dead', QUEUE, '--reason', 'crashed', '--yes')).toEqual({ changed: 0 });
    expect(await json('purge-dead', QUEUE, '--yes')).toEqual({ changed: 46 });

    expect(await json('run-now', QUEUE, '--recurrence', 'digest')).toEqual({ changed: 1 });
    expect(await json('pause', QUEUE, '--recurrence', 'digest')).toEqual({ changed: 1 });
    expect((await producer.recurrence({ id: 'digest', queue: QUEUE }))!.state).toBe('paused');
    expect(await json('resume', QUEUE, '--recurrence', 'digest')).toEqual({ changed: 1 });

    expect(await json('pause', QUEUE, '--for', '1h')).toEqual({ changed: 1 });
    expect(await json('resume', QUEUE)).toEqual({ changed: 1 });
    expect(await json('resume', QUEUE)).toEqual({ changed: 0 });
    // What was put back fails again.
    await until('they are dead', async () => (await inspector.counts({ queue: QUEUE })).dead === 6);
  });

  it('tail tells the events of all processes, its own cancelling too, until it is interrupted', async () => {
    const heard: string[] = [];
    let interrupt = () => {};
    const interrupted = new Promise<void>((resolve) => {
      interrupt = resolve;
    });
    const tailing = typed(['tail', QUEUE, '--from', '0', '--json', ...asked], {
      interrupted,
      heard: (line) => heard.push(line),
    });
    await json('cancel', QUEUE, 'later/60', '--yes');
    await until('it is told', () => heard.some((line) => line.includes('"later/60"')));
    interrupt();
    const { code, err } = await tailing;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const events = heard.map((line) => JSON.parse(line));
    expect(events).toContainEqual({ type: 'cancelled', queue: QUEUE, id: 'later/60', eventId: expect.any(String) });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'dead', name: 'mail.send', reason: 'unrecoverable' }),
    );

    const text: string[] = [];
    const reading = typed(['tail', QUEUE, '--from', '0', ...asked], {
      interrupted: until('all are shown', () => text.length >= events.length).then(() => {}),
      heard: (line) => text.push(line),
    });
    expect(await reading).toMatchObject({ code: 0, err: expect.stringContaining(` tail ${QUEUE} --from `) });
    expect(text.find((line) => line.startsWith('dead '))).toMatch(
      /^dead {9}[\w.]+ {2}dead\/\d+ {2}attempt 1, reason unrecoverable, /,
    );
    expect(text.filter((line) => line.length > 100)).toEqual([]);
  });

  it('runs as a program of its own', async () => {
    const { code, out, err } = await runProgram(['failures', QUEUE, '--json', '--prefix', prefix, ...server.args]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out).length).toBeGreaterThan(0);
  });
});

it('no command is forgotten here', () => {
  const spec = readFileSync('test/e2e/command-line/commands.spec.ts', 'utf8');
  expect([...COMMANDS.keys()].filter((name) => !spec.includes(`'${name}'`))).toEqual([]);
});

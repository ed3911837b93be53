import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { COMMANDS } from '../../../lib/command-line/commands.js';
import { OnScheduledJob, type ScheduledJob, UnrecoverableJobError } from '../../../lib/index.js';
import { typed } from '../../support/command-line.js';
import { newPrefix, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

// What docs/command-line.md prints under each command is what the command answers, but for how long ago something was.

const PAGE = readFileSync('docs/command-line.md', 'utf8');
const prefix = newPrefix();
const queue = 'mail';

@Injectable()
class Handlers {
  @OnScheduledJob('mail.send', { queue, maxAttempts: 1 })
  send(): void {
    throw new Error('connect ECONNREFUSED 10.0.0.3:25');
  }

  @OnScheduledJob('webhook.send', { queue })
  call(): void {
    throw new UnrecoverableJobError('the endpoint answered 410');
  }

  @OnScheduledJob('report.build', { queue })
  async build(_payload: unknown, { signal }: ScheduledJob): Promise<void> {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
  }
}

beforeAll(async () => {
  const { producer, inspector } = await startApp([Handlers], { prefix, shutdownTimeoutMs: 0 });
  const dead = async (job: string, count: number, idOf: (i: number) => string) => {
    const before = (await inspector.counts({ queue })).dead;
    // One after the other, so that the last one dies last.
    for (let i = 0; i < count; i++) {
      await producer.dispatch(job, {}, { queue, id: idOf(i) });
      await until('it is dead', async () => (await inspector.counts({ queue })).dead === before + i + 1);
    }
  };
  await dead('mail.send', 12, (i) => `mail.send/${(i + 10) % 12}`);
  await dead('webhook.send', 3, (i) => `webhook/${i}`);
  await producer.dispatch('report.build', {}, { queue });
  await producer.schedule('invoice.print', {}, { queue, id: 'invoice.print/8', at: Date.now() - 200_000 });
  for (let i = 0; i < 4; i++) await producer.schedule('mail.send', {}, { queue, delay: '1h' });
  await until('it runs', async () => (await inspector.counts({ queue })).active === 1);
  await until('its worker says so', async () => (await inspector.load({ queue })).running === 1);
});

afterAll(stopApps);

const blocks = [...PAGE.matchAll(/^```console\n\$ nestjs-redis-scheduled-queue ([^\n]*)\n(.*?)^```$/gms)];

it.each(blocks.map(([, line, printed]) => [line!, printed!]))('%s', async (line, printed) => {
  const { code, out, err } = await typed([...line.split(' '), '--prefix', prefix], { env: { REDIS_URL: redisUrl() } });
  // The printed doctor has found problems.
  expect({ code, err }).toEqual({ code: line === 'doctor' ? 1 : 0, err: '' });
  expect(withoutTimes(out.replaceAll(` --prefix ${prefix}`, ''))).toEqual(withoutTimes(printed));
});

it('prints four of them, and has a row for each command', () => {
  expect(blocks).toHaveLength(4);
  const table = PAGE.slice(PAGE.indexOf('## Commands'), PAGE.indexOf('## What doctor checks'));
  const rows = [...table.matchAll(/^\| `([\w-]+)[^`]*` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual([...COMMANDS.keys()]);
});

/** How long a time is decides how wide its column is. */
function withoutTimes(text: string): string {
  return text.replaceAll(/now\b|\d+ (ms|s|min) ago/g, 'lately').replaceAll(/ {2,}/g, '  ');
}

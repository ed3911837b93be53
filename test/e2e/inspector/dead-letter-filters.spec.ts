import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  type DeadFilter,
  InvalidScheduleError,
  JobOutcome,
  OnScheduledJob,
  ScheduledJob,
  UnrecoverableJobError,
} from '../../../lib/index.js';
import { SCRIPTS } from '../../../lib/store/redis/scripts/embedded.js';
import { redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  isBillRefused = false;

  @OnScheduledJob('mail')
  mail(): void {
    throw new UnrecoverableJobError('no such "reason":"late" address');
  }

  @OnScheduledJob('mail.all', { maxAttempts: 1 })
  mailAll(): void {
    throw new Error('no');
  }

  @OnScheduledJob('bill')
  bill(_: unknown, { id }: ScheduledJob): JobOutcome {
    if (this.isBillRefused) throw new UnrecoverableJobError('refused');
    return JobOutcome.deadLetter(`bill ${id}`);
  }
}

afterEach(stopApps);

/** Dead jobs: of `mail` unrecoverable, of `mail.all` with attempts exhausted, of `bill` dead-lettered; nothing runs any more. */
async function startWithDead(names: Record<string, number>, connection = redisUrl()) {
  const app = await startApp([Handlers], { connection, queues: { default: { concurrency: 200 } } });
  const items = Object.entries(names).flatMap(([name, count]) =>
    Array.from({ length: count }, (_, i) => ({ job: name, payload: i, options: { id: `${name}/${i}` } })),
  );
  await app.producer.scheduleMany(items);
  await until('all are dead', async () => (await app.inspector.counts()).dead === items.length);
  await app.consumer.stop();
  const { inspector } = app;
  const idsOf = async (state: 'dead' | 'due') =>
    (await inspector.list(state, { limit: 1_000 })).map(({ id }) => id).sort();
  return { ...app, dead: () => idsOf('dead'), due: () => idsOf('due') };
}

describe('purgeDead deletes, and replayDead puts back, only dead jobs', () => {
  it('of the names given', async () => {
    const { inspector, dead, due } = await startWithDead({ mail: 2, 'mail.all': 2, bill: 2 });
    expect(await inspector.purgeDead({ names: ['mail', 'nobody'] })).toBe(2);
    expect(await dead()).toEqual(['bill/0', 'bill/1', 'mail.all/0', 'mail.all/1']);
    expect(await inspector.replayDead({ names: ['bill'] })).toBe(2);
    expect(await due()).toEqual(['bill/0', 'bill/1']);
    expect(await inspector.replayDead({ names: ['nobody'] })).toBe(0);
    expect(await inspector.stats()).toMatchObject({ dead: 6, deadDropped: 2 });
  });

  it('that died for the reason given, which no message can pass for', async () => {
    const { inspector, dead } = await startWithDead({ mail: 2, 'mail.all': 1, bill: 1 });
    expect(await inspector.purgeDead({ reason: 'late' })).toBe(0);
    expect(await inspector.replayDead({ reason: 'unrecoverable' })).toBe(2);
    expect(await inspector.purgeDead({ reason: 'dead-lettered' })).toBe(1);
    expect(await dead()).toEqual(['mail.all/0']);
  });

  it('whose last death was for that reason', async () => {
    const { inspector, consumer, get } = await startWithDead({ bill: 1 });
    await inspector.replayDead('bill/0');
    get(Handlers).isBillRefused = true;
    await consumer.start();
    await until('it is dead again', async () => (await inspector.stats()).dead === 2);
    expect((await inspector.job('bill/0'))!.failures).toHaveLength(2);
    expect(await inspector.purgeDead({ reason: 'dead-lettered' })).toBe(0);
    expect(await inspector.purgeDead({ reason: 'unrecoverable' })).toBe(1);
  });

  it('that died before the instant given, and not in it', async () => {
    const { inspector, producer, consumer, dead } = await startWithDead({ mail: 1 });
    const { endedAt } = (await inspector.job('mail/0'))!;
    await until('a millisecond has passed', () => Date.now() > endedAt!.getTime() + 1);
    await consumer.start();
    await producer.schedule('bill', null, { id: 'later' });
    await until('it is dead', async () => (await inspector.counts()).dead === 2);
    expect(await inspector.purgeDead({ diedBefore: endedAt })).toBe(0);
    expect(await inspector.purgeDead({ diedBefore: endedAt!.getTime() + 1 })).toBe(1);
    expect(await dead()).toEqual(['later']);
    expect(await inspector.replayDead({ diedBefore: '2027-01-01T00:00:00Z', names: ['mail'] })).toBe(0);
    expect(await inspector.purgeDead({ diedBefore: new Date(Date.now() + 3_600_000) })).toBe(1);
  });

  it('up to the limit, the oldest first', async () => {
    const { inspector, due, dead } = await startWithDead({ mail: 250 });
    const oldest = (await inspector.list('dead', { limit: 1_000 })).map(({ id }) => id).reverse();
    expect(await inspector.purgeDead({ limit: 120 })).toBe(120);
    expect(await dead()).toEqual(oldest.slice(120).sort());
    expect(await inspector.replayDead({ limit: 7 }, { at: Date.now() - 1_000, perSecond: 1_000 })).toBe(7);
    expect(await due()).toEqual(oldest.slice(120, 127).sort());
    expect(await inspector.purgeDead({ limit: 1_000 })).toBe(123);
  });

  it('that fit everything that is given, among many that do not', async () => {
    const { inspector, dead } = await startWithDead({ mail: 450, bill: 3, 'mail.all': 150 });
    expect(await inspector.purgeDead({ names: ['bill'], reason: 'unrecoverable' })).toBe(0);
    expect(await inspector.purgeDead({ names: ['bill', 'mail.all'], reason: 'dead-lettered', limit: 2 })).toBe(2);
    expect((await dead()).filter((id) => id.startsWith('bill'))).toHaveLength(1);
    expect(await inspector.replayDead({ names: ['bill', 'mail.all'] })).toBe(151);
    expect(await dead()).toHaveLength(450);
  });

  it('of the queue given, with the filter or behind it', async () => {
    const app = await startApp([Handlers]);
    const { inspector, producer } = app;
    await producer.schedule('mail', null);
    await until('it is dead', async () => (await inspector.counts()).dead === 1);
    for (const queue of [{ queue: 'other' }, { names: ['mail'], queue: 'other' }]) {
      expect(await inspector.purgeDead(queue)).toBe(0);
      expect(await inspector.replayDead(queue)).toBe(0);
    }
    expect(await inspector.purgeDead({ names: ['mail'] }, { queue: 'other' })).toBe(0);
    expect(await inspector.replayDead({ names: ['mail'] }, { queue: 'other' })).toBe(0);
    expect(await inspector.purgeDead({ queue: 'default' })).toBe(1);
  });
});

it('a filter that cannot be used is refused before anything is written', async () => {
  const { inspector } = await startWithDead({ mail: 1 });
  const wrong: [unknown, string][] = [
    [{ name: 'mail' }, `unknown option "name", did you mean 'names'?`],
    [{ names: 'mail' }, 'names: got "mail", expected an array of job names'],
    [{ names: [] }, 'names: got none, expected an array of job names; leave it out for every name'],
    [{ names: ['a\nb'] }, 'names: name 0: got "a\\nb"'],
    [{ reason: 'crash' }, `reason: got "crash", expected 'attempts-exhausted' or `],
    [{ diedBefore: 1_700_000_000 }, 'diedBefore: got 1700000000, which looks like seconds'],
    [{ diedBefore: 'yesterday' }, 'diedBefore: got "yesterday", expected a Date'],
    [{ limit: 0 }, 'limit: got 0, expected a whole number of at least 1'],
    [{ limit: 1.5 }, 'limit: got 1.5, expected a whole number'],
    [{ queue: 'a b' }, 'queue: got "a b"'],
    // Who leaves a condition out by mistake means all dead jobs otherwise.
    [{ names: undefined }, 'names: got undefined, expected a value; leave it out to mean any'],
    [{ reason: undefined }, 'reason: got undefined'],
  ];
  for (const [filter, problem] of wrong) {
    for (const call of ['purgeDead', 'replayDead'] as const) {
      const error = await inspector[call](filter as DeadFilter).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InvalidScheduleError);
      expect((error as Error).message).toContain(`${call}: ${problem}`);
    }
  }
  expect(await inspector.counts()).toMatchObject({ dead: 1 });
});

it.each(['purge', 'replay'] as const)(
  'a step of %s whose reply is lost counts once, and the next goes on behind it',
  async (script) => {
    const proxy = await TcpProxy.start(redisUrl());
    try {
      const { inspector, dead } = await startWithDead({ mail: 150, bill: 150 }, proxy.url);
      const call = (filter: DeadFilter) =>
        script === 'purge' ? inspector.purgeDead(filter) : inspector.replayDead(filter);
      // The script is in Redis' cache from here on.
      await call({ queue: 'empty' });
      const cut = proxy.cutOnce((request) => request.includes(SCRIPTS[script].sha));
      expect(await call({ names: ['bill'] })).toBe(150);
      await cut;
      expect((await dead()).every((id) => id.startsWith('mail'))).toBe(true);
      expect(await dead()).toHaveLength(150);
    } finally {
      await stopApps();
      await proxy.stop();
    }
  },
);

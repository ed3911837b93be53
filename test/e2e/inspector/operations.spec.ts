import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { OnScheduledJob, relayKey } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { startOwnServer } from '../../support/redis-server.js';
import { StreamReader } from '../../support/stream-reader.js';
import { until } from '../../support/wait.js';

@Injectable()
class Handlers {
  @OnScheduledJob('works')
  works(): void {}

  @OnScheduledJob('fails', { maxAttempts: 2, backoff: { type: 'fixed', delayMs: 1 } })
  fails(): void {
    throw new Error('as it should');
  }
}

afterEach(stopApps);

it('the permissions that docs/operations.md lists are enough for everything that a producer, worker and inspector do', async () => {
  const server = await startOwnServer();
  const admin = new Redis(server.url);
  try {
    const [command, ...args] = documentedPermissions();
    await admin.call(command!, args);
    // Those of an application whose prefix only begins like this one.
    for (const other of [
      ['hget', 'sq:other:{default}:jobs', 'id'],
      ['publish', 'sq:other:{default}:wake:w', '1'],
    ])
      expect(await admin.acl('DRYRUN', 'queue', ...(other as [string]))).toMatch(/no permissions|no access/i);
    const connection = server.url.replace('redis://', 'redis://queue:secret@');
    const queues = {
      default: { keepCompleted: { count: 1, ageMs: '1h' }, keepDead: 1, streamEvents: { maxLength: 5 } },
    } as const;
    const { producer, consumer, inspector, events } = await startApp([Handlers], { connection, queues, prefix: 'sq' });

    for (const id of ['first', 'second']) await producer.schedule('works', null, { id });
    for (const id of ['dead', 'dropped']) await producer.schedule('fails', null, { id });
    await producer.schedule('works', null, { id: 'moved', delay: '1h' });
    await producer.schedule('works', null, { id: 'moved', delay: '2h', onDuplicate: 'replace' });
    expect(await producer.reschedule('moved', { delay: '3h' })).toBe(true);
    expect(await producer.cancel('moved')).toBe(true);
    expect(await consumer.pop({ names: ['pulled'], waitMs: 300 })).toEqual([]);
    await producer.schedule('pulled', null, { id: 'pulled' });
    const [popped] = await consumer.pop({ waitMs: '10s' });
    expect(await popped!.extend('1m')).toBe(true);
    expect(await popped!.snooze('1h')).toBe(true);
    expect(await producer.cancel('pulled')).toBe(true);
    await producer.schedule('relayed', null);
    consumer.relay({ names: ['relayed'], to: { stream: relayKey('default', 'stream') }, maxLength: 10 });
    await until('it is in the stream', async () => (await admin.exists(relayKey('default', 'stream'))) === 1);
    await producer.schedule('listed', null);
    consumer.relay({ names: ['listed'], to: { list: relayKey('default', 'list') } });
    await until('it is in the list', async () => (await admin.exists(relayKey('default', 'list'))) === 1);
    await until('all jobs have ended', async () => {
      const { completed, dead, deadDropped } = await inspector.stats();
      return completed === 4 && dead === 2 && deadDropped === 1;
    });
    expect(await inspector.counts()).toEqual({ scheduled: 0, due: 0, active: 0, completed: 1, dead: 1 });
    for (const state of ['scheduled', 'due', 'active', 'completed', 'dead'] as const) await inspector.list(state);
    await inspector.nextDueAt();
    await inspector.workers();
    await inspector.pause({ forMs: '1h' });
    await producer.schedule('works', null, { id: 'cleared' });
    expect((await inspector.explain('cleared')).code).toBe('paused');
    expect(await inspector.clear()).toBe(1);
    await inspector.resume();
    const [completed] = await inspector.list('completed');
    expect(await inspector.remove(completed!)).toBe(true);
    expect(await inspector.replayDead({ reason: 'attempts-exhausted' }, { at: Date.now() + 3_600_000 })).toBe(1);
    await inspector.purgeDead({ names: ['fails'] });
    const [fromNow, fromStart] = [new StreamReader(events), new StreamReader(events, '0')];
    await until('both are told', async () => {
      await producer.cancel(await producer.schedule('works', null, { delay: '1h' }));
      return fromNow.seen.length > 0 && fromStart.seen.length > 0;
    });
    await stopApps();

    expect(await deniedCommands(admin)).toEqual([]);
  } finally {
    admin.disconnect();
    await stopApps();
    await server.stop();
  }
});

function documentedPermissions(): string[] {
  const block = readFileSync('docs/operations.md', 'utf8').match(/^```acl\n(.*?)\n```$/ms);
  return block![1]!.trim().split(/\s+/);
}

async function deniedCommands(admin: Redis): Promise<unknown[]> {
  const entries = (await admin.acl('LOG')) as unknown[][];
  return entries.map((entry) => entry[entry.indexOf('object') + 1]);
}

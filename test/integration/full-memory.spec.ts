import { expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../lib/index.js';
import { startOwnServer } from '../support/redis-server.js';
import { settlement, TestStore } from '../support/store.js';

it('where Redis has no memory left a schedule is refused whole, while workers go on and jobs are cancelled by tag', async () => {
  const server = await startOwnServer();
  const test = new TestStore({}, server.url);
  try {
    await test.schedule({ id: 'before' });
    await test.schedule({ tags: ['vip'], due: { delayMs: 3_600_000 } });
    const worker = test.worker('w');
    const [released] = await worker.claim();
    await worker.settle(settlement.release(released!));
    await test.redis.config('SET', 'maxmemory', '1');

    const refused = test.schedule({ id: 'after' });
    await expect(refused).rejects.toThrow(QueueUnavailableError);
    await expect(refused).rejects.toMatchObject({ outcome: 'refused', jobId: 'after' });
    const [job] = await worker.claim();
    expect((await worker.turn({ renewals: [job!] })).lost).toEqual([]);
    expect(await worker.settle(settlement.complete(job!))).toEqual([true]);
    expect(await test.management.cancelTagged('vip', () => {})).toBe(1);
    expect(await test.management.cancelTagged('vip', () => {})).toBe(0);

    await test.redis.config('SET', 'maxmemory', '0');
    expect(await test.view.job('after')).toBeUndefined();
    expect(await test.schedule({ id: 'after' })).toMatchObject({ status: 'created' });
    expect(await test.audit()).toEqual([]);
  } finally {
    await test.close();
    await server.stop();
  }
});

it('where Redis has no memory left groups keep their limits and their order, are paused and resumed, and new settings are refused whole', async () => {
  const server = await startOwnServer();
  const test = new TestStore({ groups: { order: 'fifo' } }, server.url);
  try {
    for (const id of ['a1', 'a2']) await test.schedule({ id, group: 'a' });
    await test.schedule({ id: 'b1', group: 'b' });
    await test.management.setGroup('b', { weight: 2 });
    await test.redis.config('SET', 'maxmemory', '1');
    const worker = test.worker('late');

    for (const settings of [{ weight: 3 }, { concurrency: 1 }])
      await expect(test.management.setGroup('a', settings)).rejects.toMatchObject({
        outcome: 'refused',
        redisCode: 'OOM',
      });
    await test.management.pauseGroup('b', 3_600_000);
    const [first, ...others] = await worker.claim(5);
    expect([first?.id, others]).toEqual(['a1', []]);
    expect(await test.view.group('a')).toMatchObject({ active: 1, due: 1, heldBy: 'order', settings: {} });
    expect(await test.view.group('b')).toMatchObject({ due: 1, heldBy: 'paused', settings: { weight: 2 } });
    expect(await worker.settle(settlement.complete(first!))).toEqual([true]);
    await test.management.resumeGroup('b');
    await test.management.setGroup('b', {});
    const rest = await worker.claim(5);
    expect(rest.map(({ id }) => id).sort()).toEqual(['a2', 'b1']);
    await worker.settle(...rest.map((job) => settlement.complete(job)));

    await test.redis.config('SET', 'maxmemory', '0');
    expect(await test.view.groups(10)).toEqual([]);
    expect(await test.audit()).toEqual([]);
  } finally {
    await test.close();
    await server.stop();
  }
});

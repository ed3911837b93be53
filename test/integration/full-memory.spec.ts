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

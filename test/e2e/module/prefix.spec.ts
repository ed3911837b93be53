import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { audit } from '../../support/audit.js';
import { newPrefix, type QueueApp, redisUrl, startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';
import { Work } from '../../support/work.js';

afterEach(stopApps);

it('prefixes with colons, of which one begins like the other, share nothing', async () => {
  const redis = new Redis(redisUrl());
  const shop = newPrefix();
  const prefixes = [shop, `${shop}:prod`, `${shop}:prod:eu`];
  try {
    const apps: QueueApp[] = [];
    for (const prefix of prefixes) apps.push(await startApp([Work], { prefix }));
    for (const [i, app] of apps.entries()) {
      await app.producer.schedule('work', i, { id: 'same', tags: ['t'], delay: '1h' });
      await app.producer.schedule('work', i);
    }
    await until('each has run its own', async () => apps.every(({ get }) => get(Work).runs.length === 1));
    for (const [i, app] of apps.entries()) expect(await app.inspector.job('same')).toMatchObject({ payload: i });
    expect(await apps[1]!.inspector.cancelTagged('t')).toBe(1);
    expect(await apps[0]!.inspector.job('same')).not.toBeNull();
    expect(await apps[2]!.inspector.job('same')).not.toBeNull();
    await stopApps();
    for (const prefix of prefixes) {
      expect(await redis.keys(`${prefix}:{*`)).not.toEqual([]);
      expect(await audit(redis, prefix)).toEqual([]);
    }
  } finally {
    redis.disconnect();
  }
});

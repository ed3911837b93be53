import { expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { RedisScheduledQueueModule, ScheduledQueueInspector, ScheduledQueueProducer } from '../../../lib/index.js';
import type { ModuleSettings } from '../../../lib/nest/module-options.js';
import { SETTINGS, STORE } from '../../../lib/nest/tokens.js';
import { RedisJobStore } from '../../../lib/store/redis/redis-job-store.js';
import { newPrefix, redisUrl } from '../../support/queue-app.js';
import { LOG } from '../../support/session-by-hand.js';

/** Nothing listens there. */
const NOBODY = 'redis://127.0.0.1:1';

it('a test can put another store in the place of the real one, which then connects to nothing', async () => {
  const lines: string[] = [];
  const note = (line: string) => lines.push(line);
  const factory = (settings: ModuleSettings) => new RedisJobStore({ ...settings, connection: redisUrl(), log: LOG });
  const module = await Test.createTestingModule({
    imports: [RedisScheduledQueueModule.forRoot({ connection: NOBODY, prefix: newPrefix() })],
  })
    .overrideProvider(STORE)
    .useFactory({ factory, inject: [SETTINGS] })
    .setLogger({ log: note, warn: note, error: note })
    .compile();
  await module.init();
  const { id } = await module.get(ScheduledQueueProducer).schedule('mail', null, { delay: '1h' });
  expect(await module.get(ScheduledQueueInspector).job(id)).toMatchObject({ name: 'mail', state: 'scheduled' });
  await module.close();
  expect(lines.filter((line) => line.includes('ECONNREFUSED'))).toEqual([]);
});

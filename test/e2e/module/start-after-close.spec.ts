import { afterEach, expect, it } from '@jest/globals';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';

class Handlers {
  @OnScheduledJob('work')
  work(): void {}
}

afterEach(() => stopApps());

it('start after the application has closed is refused, rather than tried again every second for ever', async () => {
  const { app, consumer } = await startApp([Handlers]);
  await app.close();
  try {
    await expect(consumer.start()).rejects.toMatchObject({ code: 'QUEUE_CLOSED' });
  } finally {
    await consumer.stop();
  }
});

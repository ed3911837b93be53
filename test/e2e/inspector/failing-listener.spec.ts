import { afterEach, expect, it } from '@jest/globals';
import { config } from 'rxjs';
import { OnScheduledJob } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';
import { until } from '../../support/wait.js';

class Handlers {
  @OnScheduledJob('work')
  work(): void {}
}

afterEach(async () => {
  config.onUnhandledError = null;
  await stopApps();
});

it('a listener that throws stops neither the worker, nor the caller of schedule, nor the other listeners', async () => {
  // Where nothing is set here, rxjs throws it in a task of its own, as an uncaught exception.
  const unhandled: unknown[] = [];
  config.onUnhandledError = (error) => void unhandled.push(error);
  const { producer, inspector, events } = await startApp([Handlers]);
  const seen: string[] = [];
  events.events$.subscribe(() => {
    throw new Error('in a listener');
  });
  events.events$.subscribe(({ type }) => seen.push(type));
  for (let i = 0; i < 20; i++) await producer.schedule('work', null);
  await until('all have run', async () => (await inspector.stats()).completed === 20);
  await until('all is told', () => seen.filter((type) => type === 'completed').length === 20);
  expect(await inspector.stats()).toMatchObject({ started: 20, failed: 0, recovered: 0 });
  await until('rxjs has told of each', () => unhandled.length === 60);
});

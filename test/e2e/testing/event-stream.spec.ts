import { afterEach, expect, it } from '@jest/globals';
import { OnScheduledJob, ScheduledQueueEvents, type ScheduledQueueStreamedEvent } from '../../../lib/index.js';
import { START, stopTestedApps, testedApp } from '../../support/tested-app.js';

class Handlers {
  @OnScheduledJob('work')
  work(): void {}
}

afterEach(stopTestedApps);

it('a stream tells what happens as time moves, and is told from an instant of virtual time', async () => {
  const { app, producer, tester } = await testedApp([Handlers], {
    queues: { default: { streamEvents: { maxLength: 3 } } },
  });
  const events = app.get(ScheduledQueueEvents);
  const seen: ScheduledQueueStreamedEvent[] = [];
  events.stream().subscribe((event) => seen.push(event));
  await tester.drain();
  await producer.schedule('work', null, { id: 'a', delay: '1h' });
  await tester.advance('2h');
  const run = { queue: 'default', id: 'a', name: 'work' };
  expect(seen).toEqual([
    { type: 'scheduled', ...run, dueAt: new Date(START + 3_600_000), eventId: expect.any(String) },
    { type: 'started', ...run, attempt: 1, latenessMs: 0, eventId: expect.any(String) },
    { type: 'completed', ...run, attempt: 1, durationMs: 0, eventId: expect.any(String) },
  ]);

  const types = async (from: string | Date) => {
    const told: string[] = [];
    events.stream({ from }).subscribe(({ type }) => told.push(type));
    await tester.drain();
    return told;
  };
  expect(await types(new Date(START + 1))).toEqual(['started', 'completed']);
  await producer.schedule('work', null, { id: 'b', delay: '1h' });
  expect(await types('0')).toEqual(['started', 'completed', 'scheduled']);
  expect(await types(new Date(START))).toEqual(['gap', 'started', 'completed', 'scheduled']);
  await app.close();
});

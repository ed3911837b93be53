import { afterEach, expect, it } from '@jest/globals';
import { type FindOptions, type InspectedJob, InvalidScheduleError } from '../../../lib/index.js';
import { startApp, stopApps } from '../../support/queue-app.js';

afterEach(stopApps);

const ids = (jobs: readonly InspectedJob[]) => jobs.map(({ id }) => id).sort();

it('finds what fits, in pages, by what is stored and by a function of the job', async () => {
  const { producer, inspector } = await startApp();
  await producer.scheduleMany(
    Array.from({ length: 60 }, (_, i) => ({
      job: i % 2 ? 'mail.send' : 'report',
      payload: { number: i },
      options: { id: `order-${i}`, delay: '1h', queue: 'q' },
    })),
  );
  const conditions: FindOptions<InspectedJob> = {
    queue: 'q',
    names: ['mail.send'],
    idPrefix: 'order-1',
    where: async ({ payload }) => (payload as { number: number }).number !== 15,
  };
  const found: InspectedJob[] = [];
  let cursor: string | undefined;
  do {
    const page = await inspector.find({ ...conditions, limit: 2, cursor });
    expect(page.jobs.length).toBeLessThanOrEqual(2);
    found.push(...page.jobs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(ids(found)).toEqual(['order-1', 'order-11', 'order-13', 'order-17', 'order-19']);
  expect(found[0]).toMatchObject({ queue: 'q', name: 'mail.send', state: 'scheduled', tags: [], attempts: 0 });
});

it('one call ends though nothing fits in a large queue, and says where to go on', async () => {
  const { producer, inspector } = await startApp();
  const jobs = Array.from({ length: 11_000 }, () => ({ job: 'work', payload: 0, options: { delay: 3_600_000 } }));
  await producer.scheduleMany(jobs);
  const first = await inspector.find({ names: ['other'] });
  expect(first).toEqual({ jobs: [], cursor: expect.any(String) });
  expect(await inspector.find({ names: ['other'], cursor: first.cursor })).toEqual({ jobs: [] });
});

it.each<[string, unknown, RegExp]>([
  ['a state that is none', { states: ['waiting'] }, /find: states: state 0: got "waiting", expected 'scheduled'/],
  ['no state', { states: [] }, /find: states: got none, expected an array of states/],
  ['a limit above 1 000', { limit: 1_001 }, /find: limit: got 1001/],
  ['seconds', { dueFrom: 1_700_000_000 }, /find: dueFrom: .*looks like seconds/],
  ['where that is no function', { where: true }, /find: where: got true, expected a function/],
  ['an unknown option', { name: 'x' }, /find: unknown option "name", did you mean 'names'/],
  ['an empty cursor', { cursor: '' }, /find: cursor: got ""/],
])('refuses %s', async (_, options, message) => {
  const { inspector } = await startApp();
  const call = inspector.find(options as FindOptions<InspectedJob>);
  await expect(call).rejects.toThrow(InvalidScheduleError);
  await expect(call).rejects.toThrow(message);
});

it('refuses the cursor of another search, and one that was cut', async () => {
  const { producer, inspector } = await startApp();
  await producer.scheduleMany(Array.from({ length: 30 }, () => ({ job: 'work', payload: 0 })));
  const { cursor } = await inspector.find({ limit: 1 });
  await expect(inspector.find({ limit: 1, names: ['x'], cursor })).rejects.toThrow(
    /find: cursor: got one of another search/,
  );
  await expect(inspector.find({ limit: 1, cursor: cursor!.slice(0, -3) })).rejects.toThrow(InvalidScheduleError);
  const other = await inspector.find({ limit: 1, where: () => true, cursor });
  expect(other.jobs).toHaveLength(1);
});

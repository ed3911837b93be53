import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { settlement, TestStore } from '../support/store.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore();
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

async function runAll(): Promise<void> {
  const worker = test.worker('w');
  await worker.settle(...(await worker.claim()).map(settlement.complete));
}

// The error of a scheduleMany over several calls names the ids of all, those of answered calls too.
it.each([
  ['another made id', {}],
  ['a chosen id', { id: 'chosen' }],
])('a made id whose job has run is not scheduled a second time after its maker went on with %s', async (_, next) => {
  const { id } = await test.schedule();
  await runAll();
  await test.schedule(next);
  await runAll();
  expect(await test.schedule({ id })).toMatchObject({ id, status: 'ended' });
  expect(await test.view.stats()).toMatchObject({ scheduled: 2, completed: 2 });
});

it('an id in the form of a made one that nobody made is scheduled', async () => {
  const { id } = await test.schedule();
  const never = `${id.slice(0, 12)}zzzzzz`;
  expect(await test.schedule({ id: never })).toMatchObject({ id: never, status: 'created' });
});

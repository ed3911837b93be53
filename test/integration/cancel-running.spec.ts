import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ClaimedJob, Settlement } from '../../lib/store/job-store.js';
import { QUEUE, settlement, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

let test: TestStore;
beforeEach(() => {
  test = new TestStore({ leaseMs: 1_000, keepCompleted: 10 });
});
afterEach(async () => {
  expect(await test.audit()).toEqual([]);
  await test.close();
});

const snooze = ({ id, fence }: ClaimedJob): Settlement => ({
  id,
  fence,
  transition: 'snooze',
  due: { delayMs: 1_000 },
});

describe('a running job that is to be cancelled', () => {
  it.each([
    ['completes', settlement.complete],
    ['fails', (job: ClaimedJob) => settlement.retry(job, 0)],
    ['is dead', settlement.dead],
    ['snoozes', snooze],
    ['goes back at shutdown', settlement.release],
  ])('ends as cancelled when its holder says that it %s', async (_, end) => {
    const { id } = await test.schedule({ id: 'r7' });
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await test.jobs.cancelRunning(id)).toBe(true);
    const { settled } = await worker.turn({ settlements: [end(job!)], limit: 1 });
    expect(settled).toEqual(['cancelled']);
    expect(await test.view.job(id)).toBeUndefined();
    expect(await test.view.stats()).toEqual({ scheduled: 1, started: 1, cancelled: 1 });
    expect(await test.schedule({ id })).toMatchObject({ status: 'created' });
  });

  it('is told to its holder with each renewal, and is held until it ends', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await test.jobs.cancelRunning(id);
    for (let i = 0; i < 2; i++) {
      expect(await worker.turn({ renewals: [job!] })).toMatchObject({ toCancel: [id], lost: [] });
    }
    expect(await test.view.job(id)).toMatchObject({ state: 'active', fence: job!.fence });
    const cancel: Settlement = { id, fence: job!.fence, transition: 'cancel' };
    expect((await worker.turn({ settlements: [cancel] })).settled).toEqual(['cancelled']);
  });

  it('ends as cancelled when its worker dies with it', async () => {
    const { id } = await test.schedule();
    await test.worker('dies').claim();
    await test.jobs.cancelRunning(id);
    const other = test.worker('other');
    const recovered = await until('it is recovered', async () => {
      const answer = await other.turn({ limit: 1 });
      return answer.recovered.length > 0 && answer.recovered;
    });
    expect(recovered).toEqual([{ id, name: 'work', attempt: 1, fate: 'cancelled', worker: 'dies' }]);
    expect(await other.claim()).toEqual([]);
    expect(await test.view.stats()).toMatchObject({ cancelled: 1, recovered: 1 });
  });

  it('is handed out again as such when the reply to its claim was lost', async () => {
    await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    const [call] = await test.redis.keys(`${test.prefix}:*:receipt:w.*`);
    expect(await test.redis.get(call!)).toContain(job!.fence);
    await test.jobs.cancelRunning(job!.id);
    expect(await test.redis.hget(`${test.prefix}:{${QUEUE}}:claims`, job!.id)).toMatch(/^\d+c 1 0 /);
  });

  it('may be asked for twice', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    expect(await test.jobs.cancelRunning(id)).toBe(true);
    expect(await test.jobs.cancelRunning(id)).toBe(true);
    expect((await worker.turn({ settlements: [settlement.complete(job!)] })).settled).toEqual(['cancelled']);
    expect(await test.jobs.cancelRunning(id)).toBe(false);
  });
});

describe('asking for a job to be cancelled that does not run answers false and changes nothing', () => {
  it('where it waits, for the first time or again', async () => {
    const { id } = await test.schedule();
    expect(await test.jobs.cancelRunning(id)).toBe(false);
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.retry(job!, 0));
    expect(await test.jobs.cancelRunning(id)).toBe(false);
    const [again] = await worker.claim();
    expect(await worker.settle(settlement.complete(again!))).toEqual([true]);
    expect(await test.view.job(id)).toMatchObject({ state: 'completed' });
  });

  it('where it is dead or was never there', async () => {
    const { id } = await test.schedule();
    const worker = test.worker('w');
    const [job] = await worker.claim();
    await worker.settle(settlement.dead(job!));
    expect(await test.jobs.cancelRunning(id)).toBe(false);
    expect(await test.jobs.cancelRunning('nobody')).toBe(false);
    expect(await test.view.job(id)).toMatchObject({ state: 'dead' });
  });
});

it('an outdated holder is told that its lease is lost, though the job of the new one is to be cancelled', async () => {
  const { id } = await test.schedule();
  const [slow, quick] = [test.worker('slow'), test.worker('quick')];
  const [outdated] = await slow.claim();
  const [current] = await until('the lease has run out', async () => {
    const claimed = await quick.claim();
    return claimed.length > 0 && claimed;
  });
  await test.jobs.cancelRunning(id);
  const answer = await slow.turn({ settlements: [settlement.complete(outdated!)], renewals: [outdated!] });
  expect(answer).toMatchObject({ settled: ['lost'], lost: [id], toCancel: [] });
  expect((await quick.turn({ settlements: [settlement.complete(current!)] })).settled).toEqual(['cancelled']);
});

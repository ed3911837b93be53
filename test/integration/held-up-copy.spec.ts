import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { SCRIPTS, type ScriptName } from '../../lib/store/redis/scripts/embedded.js';
import { QUEUE, TestStore } from '../support/store.js';
import { until } from '../support/wait.js';

/** Long enough for a new connection beside other suites. */
const COMMAND_TIMEOUT_MS = 1_000;

type Send = (this: Redis, command: { name: string; args: string[] }, ...rest: unknown[]) => unknown;
const clients = Redis.prototype as unknown as { sendCommand: Send };
const { sendCommand } = clients;
const turns: string[][] = [];
/** Of a script whose calls do not reach Redis, the copies that are on their way. */
let heldUp: { script: ScriptName; copies: string[][] } | undefined;
let test: TestStore;

beforeEach(() => {
  test = new TestStore({}, undefined, undefined, COMMAND_TIMEOUT_MS);
  turns.length = 0;
  heldUp = undefined;
  clients.sendCommand = function (command, ...rest) {
    if (command.name === 'evalsha' && [SCRIPTS.turn.sha, SCRIPTS.ordinary.sha].includes(command.args[0]!))
      turns.push([...command.args]);
    if (heldUp && command.name === 'evalsha' && command.args[0] === SCRIPTS[heldUp.script].sha) {
      heldUp.copies.push([...command.args]);
      return new Promise(() => {});
    }
    return sendCommand.call(this, command, ...rest);
  };
});

afterEach(async () => {
  clients.sendCommand = sendCommand;
  await test.close();
});

it('a copy of a turn that found nothing, held up on the way, claims nothing once the turn has been answered', async () => {
  const worker = test.worker('w');
  for (let i = 0; i < 3; i++) await worker.turn({ limit: 1 });
  const { id } = await test.schedule();
  const [older, last] = turns.slice(-2) as [string[], string[]];
  const statusOf = async (copy: string[]) => ((await test.redis.call('evalsha', ...copy)) as string[])[0];
  expect([await statusOf(older), await statusOf(last)]).toEqual(['overtaken', 'whole']);
  expect(await test.view.job(id)).toMatchObject({ state: 'due', attempts: 0 });
  expect(await worker.claim()).toMatchObject([{ id, attempt: 1 }]);
});

/** What a call does to a waiting job, had it reached Redis in time. */
const CALLS: [ScriptName, (id: string) => Promise<unknown>][] = [
  ['schedule', () => test.schedule({ id: 'new' })],
  ['replace', (id) => test.replace({ id, payload: '"new"' })],
  ['cancel', (id) => test.jobs.cancel(id)],
  ['reschedule', (id) => test.jobs.reschedule(id, { delayMs: 0 })],
];

it.each(CALLS)(
  'a copy of a %s, held up until the time of the call is over and its caller has been told, changes nothing',
  async (script, call) => {
    const { id } = await test.schedule({ id: 'there', due: { delayMs: 60_000 } });
    const before = await test.view.job(id);
    heldUp = { script, copies: [] };
    await expect(call(id)).rejects.toMatchObject({ code: 'QUEUE_UNAVAILABLE' });
    const { copies } = heldUp;
    expect(copies.length).toBeGreaterThan(0);
    for (const [, count, ...rest] of copies) {
      const deadline = Number(rest[Number(count) + 2]);
      await until('its time is over', async () => (await test.view.nextDue()).nowMs > deadline);
      const reply = await test.redis.eval(SCRIPTS[script].source, count!, ...rest);
      expect((reply as string[])[0]).toBe('expired');
    }
    expect(await test.view.job(id)).toEqual(before);
    expect(await test.view.stats()).toEqual({ scheduled: 1 });
    expect(await test.audit()).toEqual([]);
  },
);

it('a copy of a claim, held up on the way until its leases are over, does not make a crash of its jobs undone', async () => {
  await test.close();
  // A limit over all processes, so that the turn is sent whole at once.
  test = new TestStore({ leaseMs: 1_000, globalConcurrency: 10 });
  const { id } = await test.schedule();
  expect(await test.worker('dies').claim()).toHaveLength(1);
  const copy = turns.at(-1)!;
  // Behind the digest, the number of keys and these: the base, the number of the call, and its deadline, which is over by then.
  copy[2 + Number(copy[1]) + 2] = '1';
  const active = `${test.prefix}:{${QUEUE}}:active`;
  const leaseEnd = Number(await test.redis.zscore(active, id));
  await until('the lease is over', () => Date.now() > leaseEnd);
  const [status, , , , , , , , , , fence] = (await test.redis.call('evalsha', ...copy)) as string[];
  expect([status, fence!.at(-1)]).toEqual(['replayed', 'o']);
  const other = test.worker('other');
  await until('the job is recovered', async () => (await other.turn()).recovered.length === 1);
  expect(await test.view.job(id)).toMatchObject({ attempts: 1, crashes: 1 });
});

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { QueueUnavailableError } from '../../../../lib/core/errors.js';
import type { DeclareAnswer, Declarer as DeclaredBy, QueueDeclarations } from '../../../../lib/store/job-store.js';
import { type Declared, Declarer, type DeclarerOptions } from '../../../../lib/worker/recur/declarers.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';

const WINS: DeclareAnswer = { statuses: ['wins'], orphans: [], startedAtMs: 7 };
const DECLARED: Declared[] = [{ declaration: { id: 'digest', isOff: true }, place: 'Mails.digest (MailModule)' }];

let clock: ManualClock;
let lines: string[];
/** What each call answers, or throws, in order; after that all win. */
let answers: (DeclareAnswer | Error)[];
let calls: { by: DeclaredBy; removesOrphans?: boolean }[];
/** Which orphans are orphans still. */
let orphans: Set<string>;
let declarer: Declarer;

const store: QueueDeclarations = {
  async declare(_declarations, by, _orphanAfterMs, removesOrphans) {
    calls.push({ by, removesOrphans });
    const answer = answers.shift() ?? WINS;
    if (answer instanceof Error) throw answer;
    return answer;
  },
  async removeOrphan(id) {
    return orphans.delete(id);
  },
};

beforeEach(() => {
  clock = new ManualClock();
  [lines, answers, calls, orphans] = [[], [], [], new Set()];
  open();
});

afterEach(() => declarer.stop());

function open(options: Partial<DeclarerOptions> = {}): void {
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { log: note('log'), warn: note('warn'), error: note('error') };
  declarer = new Declarer('q', store, DECLARED, clock, log, {
    app: 'shop',
    orphanedRecurrences: 'report',
    orphanAfterMs: 600_000,
    ...options,
  });
}

async function start(): Promise<void> {
  declarer.start();
  await rest();
}

it('it declares at its start, and then every 5 s, as a process that has gone on living since the first time', async () => {
  await start();
  expect(calls).toEqual([{ by: { app: 'shop', revision: undefined, startedAtMs: undefined }, removesOrphans: false }]);
  await clock.elapse(4_999);
  expect(calls).toHaveLength(1);
  await clock.elapse(1);
  expect(calls[1]!.by.startedAtMs).toBe(7);
  expect(lines).toEqual([]);
});

it('it declares several times within orphanAfterMs, so that no live process seems to be gone', async () => {
  open({ orphanAfterMs: 1_000 });
  await start();
  for (let i = 0; i < 5; i++) await clock.elapse(200);
  expect(calls).toHaveLength(6);
});

it('after a stop it declares no more, and after the next start once every 5 s again, as the same process', async () => {
  await start();
  declarer.stop();
  await clock.elapse(60_000);
  expect(calls).toHaveLength(1);
  declarer.start();
  await start();
  expect(calls).toHaveLength(2);
  expect(calls[1]!.by.startedAtMs).toBe(7);
  await clock.elapse(5_000);
  expect(calls).toHaveLength(3);
});

it('a refusal is told once, and the declaration is tried again until it is done', async () => {
  answers = [new Error('OOM'), new Error('OOM'), WINS, new Error('OOM')];
  await start();
  await clock.elapse(1_000);
  await clock.elapse(1_000);
  const told = `error The recurrences of queue 'q' cannot be declared, which is tried again: OOM`;
  expect(lines).toEqual([told]);
  await clock.elapse(5_000);
  expect(lines).toEqual([told, told]);
});

it('nothing is told of a Redis that cannot be reached: its connection does that', async () => {
  answers = [new QueueUnavailableError('away', 'unknown')];
  await start();
  await clock.elapse(1_000);
  expect(calls).toHaveLength(2);
  expect(lines).toEqual([]);
});

it('a declaration of an upserted recurrence is an error, and is told once', async () => {
  answers = [
    { ...WINS, statuses: ['upserted'] },
    { ...WINS, statuses: ['upserted'] },
  ];
  await start();
  await clock.elapse(5_000);
  expect(lines).toEqual([
    `error Recurrence 'digest' of queue 'q' was made by upsertRecurrence, so the declaration by Mails.digest (MailModule) is not done. Call removeRecurrence, or give the declaration another recurrenceId.`,
  ]);
});

it('a declaration that gives way to another, and one that holds again, are told once each', async () => {
  answers = [{ ...WINS, statuses: ['loses'] }, { ...WINS, statuses: ['loses'] }, WINS, WINS];
  await start();
  for (let i = 0; i < 3; i++) await clock.elapse(5_000);
  expect(lines).toEqual([
    `log Recurrence 'digest' of queue 'q': the declaration by Mails.digest (MailModule) gives way to that of another process, which has a higher revision or started later.`,
    `log Recurrence 'digest' of queue 'q': the declaration by Mails.digest (MailModule) holds from now on.`,
  ]);
});

it('orphans are named in one line', async () => {
  answers = [{ ...WINS, orphans: ['a', 'b'] }];
  await start();
  expect(lines).toEqual([
    `warn No process of app 'shop' has declared these recurrences of queue 'q' for 600000 ms: 'a', 'b'. They go on. Set orphanedRecurrences: 'remove' to delete such recurrences, or declare them again.`,
  ]);
});

it('orphans are removed where the module says so, but for those that are none any more', async () => {
  open({ orphanedRecurrences: 'remove' });
  answers = [{ ...WINS, orphans: ['a', 'b'] }];
  orphans.add('b');
  await start();
  expect(calls[0]!.removesOrphans).toBe(true);
  expect(lines).toEqual([
    `warn No process of app 'shop' has declared this recurrence of queue 'q' for 600000 ms: 'b': removed.`,
  ]);
});

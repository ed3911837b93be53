import { hostname } from 'node:os';
import { expect, it } from '@jest/globals';
import { readQueueOptions } from '../../../../../lib/core/options/queue-options.js';
import type { Turn } from '../../../../../lib/store/job-store.js';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import type { RedisConnection } from '../../../../../lib/store/redis/link/connection.js';
import { ServerClock } from '../../../../../lib/store/redis/link/server-clock.js';
import type { WakeListener } from '../../../../../lib/store/redis/link/wake-listener.js';
import { RedisSession } from '../../../../../lib/store/redis/session/redis-session.js';

const NOW = '1798794000000';
const CURSORS = ['c5 8', 'o1 3'] as const;
const never = new AbortController().signal;

/** Which of the cursors stands among the arguments of each call that was sent, and how to answer the oldest. */
function openSession(options: Parameters<typeof readQueueOptions>[1] = {}) {
  const sent: (string | undefined)[] = [];
  const scripts: string[] = [];
  /** Those that were to list the session. */
  const listing: string[] = [];
  /** Those that were to take it off. */
  const leaving: string[] = [];
  const whole = { reason: '' };
  const waiting: { resolve(reply: unknown): void; reject(error: Error): void }[] = [];
  const connection = {
    received: 0,
    now: () => performance.now(),
    downlink: { note() {}, bytesIn: () => 1_000_000 },
    run: async (script: string, _keys: unknown, args: readonly unknown[]) => {
      if (script === 'clock') return [NOW, NOW];
      scripts.push(script);
      if (args.some((arg) => arg === 'gone' || String(arg).startsWith('gone\n'))) leaving.push(script);
      else if (args.some((arg) => arg === 'here' || (String(arg).endsWith(hostname()) && script === 'ordinary')))
        listing.push(script);
      // Each of these meets more than it knows.
      if (script === 'ordinary' || script === 'in-order') return ['whole', NOW, whole.reason];
      sent.push(CURSORS.find((cursor) => args.includes(cursor)));
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
  } as unknown as RedisConnection;
  const link = { connection, listener: { hears: () => true } as unknown as WakeListener };
  const keys = queueKeys('sq', 'mail');
  const who = { id: 'w', crew: 'g', names: ['mail'], traits: '0.1.0,10', options: { digest: '0a', text: '{}' } };
  const session = new RedisSession(
    link,
    new ServerClock(link.connection, keys, () => {}),
    keys,
    who,
    readQueueOptions('mail', options),
    {
      given: { clustered: false, stealAfterMs: 5_000, keepEnded: '' },
      isUsed() {},
      isListed() {},
    },
  );
  const answer = (cursor: string, uses = '-') => {
    waiting.shift()!.resolve(['done', NOW, '', [], [], [], [], [], [], NOW, '1', cursor, '', '', [], '', [], uses, []]);
  };
  return {
    session,
    sent,
    scripts,
    listing,
    leaving,
    whole,
    answer,
    refuse: (error: Error) => waiting.shift()!.reject(error),
    waiting,
  };
}

const turnOf = (turn: Partial<Turn> = {}): Turn => ({
  settlements: [],
  renewals: [],
  limit: 1,
  handlers: [],
  isLast: false,
  standing: 'stays',
  suspects: '',
  ...turn,
});

/** Calls are sent after a few rounds of promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('a turn goes on looking where the last one that was answered stopped, unless it looks anew', async () => {
  const { session, sent, answer } = openSession();
  for (const [turn, cursor] of [
    [turnOf(), 'c5 8'],
    [turnOf(), 'o1 3'],
    [turnOf({ looksAnew: true }), 'c5 8'],
    [turnOf(), ''],
    [turnOf(), ''],
  ] as const) {
    const answered = session.turn(turn, never);
    await settled();
    answer(cursor);
    await answered;
  }
  expect(sent).toEqual([undefined, 'c5 8', undefined, 'c5 8', undefined]);
});

it('a turn that is sent again looks from where it looked first, whatever was answered meanwhile', async () => {
  const { session, sent, answer, refuse } = openSession();
  const [first, second, third] = [turnOf(), turnOf(), turnOf()];
  const refused = session.turn(first, never);
  await settled();
  const other = session.turn(second, never);
  await settled();
  refuse(new Error('NOPERM'));
  await expect(refused).rejects.toThrow('NOPERM');
  answer('c5 8');
  await other;
  for (const turn of [first, third]) {
    const answered = session.turn(turn, never);
    await settled();
    answer('c5 8');
    await answered;
  }
  expect(sent).toEqual([undefined, undefined, undefined, 'c5 8']);
});

it('a turn that meets more than an ordinary one knows is sent whole, and so are the next ones while the queue uses that', async () => {
  const { session, scripts, whole, answer } = openSession();
  const take = async (uses?: string) => {
    const answered = session.turn(turnOf(), never);
    await settled();
    answer('', uses);
    await answered;
    return scripts.splice(0);
  };
  // The first one lists the session, be it in an ordinary turn.
  expect(await take('')).toEqual(['ordinary', 'turn']);
  expect(await take()).toEqual(['ordinary', 'turn']);
  expect(await take()).toEqual(['ordinary', 'turn']);
  whole.reason = 'uses';
  expect(await take()).toEqual(['ordinary', 'turn']);
  expect(await take('more')).toEqual(['turn']);
  expect(await take('')).toEqual(['turn']);
  expect(await take()).toEqual(['ordinary', 'turn']);
});

const IN_ORDER = { groups: { order: 'fifo' } } as const;

it('where a queue uses nothing but groups in order, turns are sent as such, until one meets more', async () => {
  const { session, scripts, whole, answer } = openSession(IN_ORDER);
  const take = async (uses?: string) => {
    const answered = session.turn(turnOf(), never);
    await settled();
    answer('', uses);
    await answered;
    return scripts.splice(0);
  };
  whole.reason = 'uses';
  expect(await take('groups')).toEqual(['ordinary', 'turn']);
  whole.reason = '';
  expect(await take()).toEqual(['in-order', 'turn']);
  expect(await take()).toEqual(['in-order', 'turn']);
  whole.reason = 'uses';
  expect(await take()).toEqual(['in-order', 'turn']);
  expect(await take()).toEqual(['turn']);
  expect(await take('groups')).toEqual(['turn']);
  expect(await take('more')).toEqual(['in-order', 'turn']);
  expect(await take('')).toEqual(['turn']);
  expect(await take()).toEqual(['ordinary', 'turn']);
});

it.each<[string, Partial<Turn>, Parameters<typeof readQueueOptions>[1]?]>([
  ['without capacity', { limit: 0 }],
  ['with capacity for more jobs of groups than one script claims', { limit: 250 }],
  ['that renews', { renewals: [{ id: '1', fence: '2' }] }],
  ['that reports progress', { reports: [{ id: '1', fence: '2', value: '3' }] }],
  ['of handlers with limits of their own', { handlers: [{ name: 'mail', weight: 2, free: 1, size: 1 }] }],
  ['that gives a job back', { settlements: [{ transition: 'release', id: '1', fence: '2' }] }],
  [
    'that completes a job whose id is remembered',
    { settlements: [{ transition: 'complete', id: '1', fence: '2', idWasChosen: true }] },
  ],
  ['of groups in due order', {}, { groups: { order: 'due' } }],
  ['of groups with a rate', {}, { groups: { order: 'fifo', rateLimit: { max: 1, perMs: 1_000 } } }],
])('a turn %s is whole where the queue uses groups', async (_, turn, options = IN_ORDER) => {
  const { session, scripts, answer } = openSession(options);
  for (const each of [turnOf(), turnOf(turn)]) {
    const answered = session.turn(each, never);
    await settled();
    answer('', 'groups');
    await answered;
  }
  expect(scripts).toEqual(['ordinary', 'turn', 'turn']);
});

it.each<[string, Partial<Turn>]>([
  [
    'a dead job',
    {
      settlements: [
        {
          id: 'j',
          fence: '1',
          transition: 'dead',
          failure: { name: 'E', message: '' },
          ran: true,
          failed: true,
          idWasChosen: false,
        },
      ],
    },
  ],
  ['a turn that gives a reservation up', { suspects: 'leave' }],
  ['one of a pop', { standing: 'until-claimed' }],
])('%s is sent whole at once', async (_what, turn) => {
  const { session, scripts, answer } = openSession();
  const answered = session.turn(turnOf(turn), never);
  await settled();
  answer('');
  await answered;
  expect(scripts).toEqual(['turn']);
});

it('an ordinary turn that lists its session, and hands itself on, leaves that to the whole one; the next turn does not list it', async () => {
  const { session, listing, answer } = openSession();
  for (const turn of [turnOf(), turnOf()]) {
    const answered = session.turn(turn, never);
    await settled();
    answer('');
    await answered;
  }
  expect(listing).toEqual(['ordinary', 'turn']);
});

it('the last turn of a session, and one after it, are ordinary ones that take it off the list', async () => {
  const { session, scripts, listing, leaving, answer } = openSession();
  for (const turn of [turnOf({ isLast: true }), turnOf()]) {
    const answered = session.turn(turn, never);
    await settled();
    answer('');
    await answered;
  }
  expect(scripts).toEqual(['ordinary', 'turn', 'ordinary', 'turn']);
  expect(leaving).toEqual(['ordinary', 'turn', 'ordinary', 'turn']);
  expect(listing).toEqual([]);
});

it('where the queue keeps jobs that ended, a turn that lists its session is sent whole at once', async () => {
  const { session, scripts, answer } = openSession({ keepEnded: 10 });
  const answered = session.turn(turnOf(), never);
  await settled();
  answer('');
  await answered;
  expect(scripts).toEqual(['turn']);
});

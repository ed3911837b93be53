import { describe, expect, it } from '@jest/globals';
import { type QueueSettings, readQueueOptions } from '../../../../../lib/core/options/queue-options.js';
import type { Settlement, Turn } from '../../../../../lib/store/job-store.js';
import { queueKeys } from '../../../../../lib/store/redis/keys.js';
import {
  type OrdinaryReply,
  type TurnArguments,
  type TurnReply,
  turnScript,
} from '../../../../../lib/store/redis/scripts/turn/contract.js';
import { decodeOrdinary, decodeTurn, turnFromBytes } from '../../../../../lib/store/redis/session/turn-codec.js';
import { encodeTurn } from '../../../../../lib/store/redis/session/turn-lists.js';

const KEEPS_NONE = readQueueOptions('q', { keepCompleted: 0 });
const KEEPS = readQueueOptions('q', { keepCompleted: 10 });

const turnOf = (turn: Partial<Turn>): Turn => ({
  settlements: [],
  renewals: [],
  limit: 0,
  handlers: [],

  isLast: false,
  standing: 'stays' as const,
  suspects: '',
  ...turn,
});

const FAILURE = { name: 'Error', message: 'no' };
const FAILURE_TEXT = '{"name":"Error","message":"no"}';

const complete = (id: string, fence: string, more = {}): Settlement => ({
  id,
  fence,
  transition: 'complete',
  idWasChosen: false,
  ...more,
});
const release = (id: string, fence: string): Settlement => ({ id, fence, transition: 'release' });

/** The arguments behind those of which there is one each. */
function listsOf(turn: Turn, settings: QueueSettings): readonly unknown[] {
  const { encode } = turnScript(queueKeys('sq', 'q'), { crew: 'g' });
  const lists = encodeTurn(turn, settings);
  const without = {
    completed: { id: [], fence: [] },
    others: [],
    nextSteps: [],
    renewals: [],
    reports: [],
    limits: [],
  };
  const given = { clustered: false, stealAfterMs: 5_000, keepEnded: '' };
  const single = encode(without as unknown as TurnArguments, given).length - 1;
  return encode(lists as TurnArguments, given).slice(single);
}

/** What the script reads of such arguments, by the rules that stand at its top. */
function read(args: readonly unknown[]) {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return args.slice(at - count, at);
  };
  const rows = (width: number) =>
    at < args.length ? Array.from({ length: Number(take(1)[0]) }, () => take(width)) : [];
  const plainCount = Number(take(1)[0]);
  const [ids, fences] = [take(plainCount), take(plainCount)];
  const plain = ids.map((id, i) => [id, fences.slice(0, i + 1).findLast((fence) => fence !== '')]);
  const lists = { plain, others: rows(5), nextSteps: rows(5), renewals: rows(2), reports: rows(3), handlers: rows(4) };
  expect(at).toBe(args.length);
  return lists;
}

describe('the arguments of a turn', () => {
  it('are one number where there is nothing to say', () => {
    expect(listsOf(turnOf({}), KEEPS_NONE)).toEqual([0]);
  });

  it('hold the common ends by themselves, each fence once for those that follow each other', () => {
    const settlements = [complete('a', '7'), complete('b', '7'), release('c', '7'), complete('d', '9')];
    const args = listsOf(turnOf({ settlements }), KEEPS_NONE);
    expect(args.slice(0, 7)).toEqual([3, 'a', 'b', 'd', '7', '', '9']);
    expect(read(args)).toMatchObject({
      plain: [
        ['a', '7'],
        ['b', '7'],
        ['d', '9'],
      ],
      others: [['release', 'c', '7', '', '']],
    });
  });

  it('name fences again that come back after another one', () => {
    const settlements = [complete('a', '7'), complete('b', '9'), complete('c', '7')];
    expect(read(listsOf(turnOf({ settlements }), KEEPS_NONE)).plain).toEqual([
      ['a', '7'],
      ['b', '9'],
      ['c', '7'],
    ]);
  });

  it.each<[Settlement, (string | number)[]]>([
    [complete('j', '1', { idWasChosen: true }), ['complete', 'r', '']],
    [{ id: 'j', fence: '1', transition: 'retry', delayMs: 50, failure: FAILURE }, ['retry', 50, FAILURE_TEXT]],
    [
      { id: 'j', fence: '1', transition: 'dead', failure: FAILURE, ran: true, failed: true, idWasChosen: true },
      ['dead', 'fr', FAILURE_TEXT],
    ],
    [
      { id: 'j', fence: '1', transition: 'dead', failure: FAILURE, ran: false, failed: false, idWasChosen: false },
      ['dead', 'n', FAILURE_TEXT],
    ],
    [{ id: 'j', fence: '1', transition: 'snooze', due: { at: 1_800_000_000_000 } }, ['snooze', 1_800_000_000_000, '']],
    [{ id: 'j', fence: '1', transition: 'snooze', due: { delayMs: 200 } }, ['snooze', -200, '']],
    [{ id: 'j', fence: '1', transition: 'discard', idWasChosen: true }, ['discard', 'r', '']],
    [{ id: 'j', fence: '1', transition: 'cancel' }, ['cancel', '', '']],
    [{ id: 'j', fence: '1', transition: 'extend', leaseMs: 9_000 }, ['extend', 9_000, '']],
    [release('j', '1'), ['release', '', '']],
  ])('say %j as the script reads it', (settlement, [transition, ...rest]) => {
    const { plain, others } = read(listsOf(turnOf({ settlements: [settlement] }), KEEPS_NONE));
    expect(plain).toEqual([]);
    expect(others).toEqual([[transition, 'j', '1', ...rest]]);
  });

  it('hold the result of a job that is kept', () => {
    const settlements = [complete('a', '7', { result: '{"x":1}' })];
    expect(read(listsOf(turnOf({ settlements }), KEEPS))).toMatchObject({
      plain: [],
      others: [['complete', 'a', '7', '', '{"x":1}']],
    });
  });

  it('hold the next steps of chains, each with the place of the settlement that it follows', () => {
    const next = { id: 'n', name: 'next', priority: 5, due: { delayMs: 2.5 }, settings: {}, payload: '"p"' };
    const settlements = [
      complete('a', '7'),
      complete('b', '7', { idWasChosen: true, next: { ...next, id: 'after-b' } }),
      release('c', '7'),
      complete('d', '7', { next: { ...next, id: 'after-d' } }),
    ];
    expect(read(listsOf(turnOf({ settlements }), KEEPS_NONE))).toMatchObject({
      plain: [
        ['a', '7'],
        ['d', '7'],
      ],
      others: [
        ['complete', 'b', '7', 'r', ''],
        ['release', 'c', '7', '', ''],
      ],
      nextSteps: [
        [2, 'after-d', 3, '5::next', '\n\n"p"'],
        [3, 'after-b', 3, '5::next', '\n\n"p"'],
      ],
    });
  });

  it('hold renewals, reports and the room of handlers', () => {
    const renewals = [
      { id: 'a', fence: '7' },
      { id: 'b', fence: '9' },
    ];
    const reports = [{ id: 'a', fence: '7', value: '{"done":1}' }];
    const handlers = [{ name: 'work', weight: 2, free: 0, size: 1 }];
    expect(read(listsOf(turnOf({ renewals, reports, handlers }), KEEPS_NONE))).toMatchObject({
      renewals: [
        ['a', '7'],
        ['b', '9'],
      ],
      reports: [['a', '7', '{"done":1}']],
      handlers: [['work', 2, 0, 1]],
    });
  });
});

it('a reply that came as bytes is text, but for the envelopes of claimed jobs', () => {
  const bytes = (text: string) => Buffer.from(text);
  const envelope = Buffer.from([0xff, 0x00]);
  const head = Array.from({ length: 19 }, (_, i) => (i % 2 ? [bytes(`${i}`), [bytes('ä')], null] : bytes(`${i}`)));
  const claims = ['a', '1', envelope, 'ä', '2', envelope].map((field) =>
    field === envelope ? field : bytes(String(field)),
  );
  expect(turnFromBytes([...head, ...claims])).toEqual([
    ...Array.from({ length: 19 }, (_, i) => (i % 2 ? [`${i}`, ['ä'], null] : `${i}`)),
    ...['a', '1', envelope, 'ä', '2', envelope],
  ]);
});

describe('the answer to a turn', () => {
  const replyWith = (differs: Record<number, unknown>, ...claims: string[]): unknown[] => {
    const reply: unknown[] = [
      'done',
      '1000.250',
      '',
      [],
      [],
      [],
      [],
      [],
      [],
      '0',
      '77',
      '',
      '',
      '',
      [],
      '',
      [],
      '-',
      [],
      ...claims,
    ];
    for (const [at, value] of Object.entries(differs)) reply[Number(at)] = value;
    return reply;
  };
  const decode = (differs: Record<number, unknown>, settlements: Settlement[] = [], ...claims: string[]) =>
    decodeTurn(replyWith(differs, ...claims) as unknown as TurnReply, turnOf({ settlements }), KEEPS_NONE).answer;

  it('tells what became of each settlement in the order in which they were said', () => {
    const settlements = [release('c', '7'), complete('a', '7'), complete('b', '7')];
    // The script answers the common ends first: a, b, c.
    expect(decode({ 2: '102' }, settlements).settled).toEqual(['cancelled', 'counted', 'lost']);
  });

  it('tells the claims, a first one by its due time alone', () => {
    const claims = ['a', '990', '5::work\n970 \n\n7', 'b', '980 3 1', 'damaged'];
    const envelope = {
      name: 'work',
      priority: 5,
      createdAtMs: 970,
      idWasChosen: false,
      tags: [],
      settings: {},
      payload: '7',
    };
    expect(decode({}, [], ...claims).claimed).toEqual([
      { id: 'a', fence: '77', dueAtMs: 990, claimedAtMs: 1_000, attempt: 1, crashes: 0, envelope },
      {
        id: 'b',
        fence: '77',
        dueAtMs: 980,
        claimedAtMs: 1_000,
        attempt: 3,
        crashes: 1,
        envelope: { unreadable: 'the envelope has fewer than four parts' },
      },
    ]);
  });

  it.each([
    ['0', undefined],
    ['1500', 499.75],
    ['900', 0],
  ])('tells when to look again: %s', (lookAt, sleepMs) => {
    expect(decode({ 9: lookAt }).sleepMs).toBe(sleepMs);
  });

  it('an ordinary turn is not a whole one', () => {
    const reply = ['done', '1000.25', '', '', '', '', '1500', '77', '1'] as unknown as OrdinaryReply;
    expect(decodeOrdinary(reply, turnOf({}), KEEPS_NONE).answer.isWhole).toBe(false);
    expect(decode({}).isWhole).toBe(true);
  });

  it('tells what was lost, recovered, late, missing and pushed out, row by row', () => {
    const answer = decode({
      3: ['l'],
      4: ['c'],
      5: ['r1', 'work', '2', 'waiting', 'w1', 'r2', '', '1', 'crashed', ''],
      6: ['t', 'work', '0', '1200', 'x'],
      7: ['m', 'work', '1', 'envelope-missing'],
      8: ['p', 'work', 'q', 'mail'],
      11: 'c5 8',
      12: '1',
      14: ['o@5', 'work', 'missed'],
      15: '1500',
      16: ['o'],
      18: ['d', 'done', '1500'],
    });
    expect(answer).toEqual({
      settled: [],
      lost: ['l'],
      toCancel: ['c'],
      recovered: [
        { id: 'r1', name: 'work', attempt: 2, fate: 'waiting', worker: 'w1' },
        { id: 'r2', name: '', attempt: 1, fate: 'crashed' },
      ],
      late: [{ id: 't', name: 'work', attempt: 0, latenessMs: 1_200, onLate: 'dead-letter' }],
      brokenJobs: [{ id: 'm', name: 'work', attempt: 1, reason: 'envelope-missing' }],
      deadDropped: [
        { id: 'p', name: 'work' },
        { id: 'q', name: 'mail' },
      ],
      skippedOccurrences: [{ id: 'o@5', name: 'work', reason: 'missed' }],
      tendInMs: 499.75,
      toTend: ['o'],
      completions: [{ id: 'd', name: 'done', dueAtMs: 1_500 }],
      claimed: [],
      sleepMs: undefined,
      isContended: true,
      isWhole: true,
      freesNothingForOthers: false,
      isUnconfirmed: false,
      expired: [],
      isReplay: false,
      suspect: undefined,
    });
  });
});

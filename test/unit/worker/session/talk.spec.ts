import { beforeEach, expect, it } from '@jest/globals';
import { Caretakers } from '../../../../lib/worker/recur/caretakers.js';
import { Reporter } from '../../../../lib/worker/report/reporter.js';
import type { Party } from '../../../../lib/worker/session/party.js';
import { Talk } from '../../../../lib/worker/session/talk.js';
import { TurnsInFlight, type WrittenTurn } from '../../../../lib/worker/session/turns-in-flight.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { EVENTS, LOG, SessionByHand } from '../../../support/session-by-hand.js';

const LEASE_MS = 3_000;

/** A party that does what the test says. */
class PartyByHand implements Party {
  owes = false;
  looks = true;
  holds = false;
  mayOverlap = false;
  taken = 0;
  refusals: unknown[] = [];

  write(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    this.owes = false;
    const turn = {
      settlements: [],
      renewals: [],
      limit: 1,
      handlers: [],
      isLast,
      standing: 'stays',
      suspects: '',
    } as const;
    return { turn, ended: [], renews: true };
  }

  take(): void {
    this.taken++;
  }

  refused(error: unknown): void {
    this.refusals.push(error);
  }
}

let clock: ManualClock;
let session: SessionByHand;
let party: PartyByHand;
let talk: Talk;
let logged: string[];
/** The ids that were tended, call by call. */
let tended: (readonly string[])[];

beforeEach(() => {
  clock = new ManualClock();
  session = new SessionByHand();
  party = new PartyByHand();
  logged = [];
  tended = [];
  const tend = async (short: readonly string[]) => {
    tended.push(short);
    return 7_000;
  };
  const caretakers = new Caretakers({ queue: () => ({ recurrences: { tend } }) as never }, clock, LOG);
  const tell = (line: string) => void logged.push(line);
  const reporter = new Reporter({ log: tell, warn: tell, error: tell }, EVENTS, clock, { trackCurrentJob: false });
  talk = new Talk(session, new TurnsInFlight(), reporter, clock, {
    queue: 'q',
    leaseMs: LEASE_MS,
    timerName: 'test',
    caretakers,
  });
  talk.join(party);
  talk.listen();
});

/** Answers the turn in flight. */
async function answer(sleepMs = 60_000): Promise<void> {
  session.answer({ sleepMs });
  await rest();
}

it('idle, it says nothing by itself, and looks as soon as its party takes jobs', async () => {
  party.looks = false;
  talk.speak();
  await clock.elapse(600_000);
  expect([talk.state, session.turns.length]).toEqual(['idle', 0]);
  party.looks = true;
  talk.lookSoon();
  await rest();
  expect([talk.state, session.turns.length]).toEqual(['talking', 1]);
});

it('sleeping, it wakes half a millisecond before something is due, and earlier for a hint', async () => {
  talk.speak();
  await answer(1_000.5);
  expect(talk.state).toBe('sleeping');
  await clock.elapse(999);
  expect(session.turns).toHaveLength(1);
  await clock.elapse(1);
  expect(session.turns).toHaveLength(2);
  await answer(1_000);
  session.hints!.look(0);
  expect(session.turns).toHaveLength(3);
});

it('sleeping, it renews what its party holds a third of a lease after the last renewal was sent', async () => {
  talk.speak();
  party.holds = true;
  await clock.elapse(100);
  await answer();
  await clock.elapse(LEASE_MS / 3 - 101);
  expect(session.turns).toHaveLength(1);
  await clock.elapse(1);
  expect(session.turns).toHaveLength(2);
});

it('talking, it says what comes up meanwhile with the next turn, and no second one beside the first unless that is worth it', async () => {
  talk.speak();
  party.owes = true;
  talk.speak();
  expect(session.turns).toHaveLength(1);
  await answer();
  expect([talk.state, session.turns.length]).toEqual(['talking', 2]);
  party.mayOverlap = true;
  talk.speak();
  // Three are never in flight.
  talk.speak();
  expect(session.underWay).toHaveLength(2);
});

it('what comes up in one round of the event loop goes with one turn', async () => {
  talk.speak();
  await answer();
  for (let i = 0; i < 3; i++) {
    party.owes = true;
    talk.saySoon();
  }
  expect(session.turns).toHaveLength(1);
  await rest();
  expect(session.turns).toHaveLength(2);
});

it('while it gathers, it says nothing', async () => {
  party.owes = true;
  talk.gather();
  talk.speak();
  expect(session.turns).toEqual([]);
  await rest();
  expect(session.turns).toHaveLength(1);
});

it('paused after a refusal, it says nothing for a second, and then the very same turn; the log says both once', async () => {
  talk.speak();
  const [turn] = session.turns;
  for (let time = 1; time <= 3; time++) {
    session.refuse(new Error('NOPERM'));
    await rest();
    party.owes = true;
    talk.speak();
    await clock.elapse(999);
    expect([talk.state, session.turns.length]).toEqual(['paused', time]);
    await clock.elapse(1);
    expect(session.turns.at(-1)).toBe(turn);
  }
  expect(party.refusals).toHaveLength(3);
  expect(String((talk.trouble as Error).message)).toBe('NOPERM');
  await answer();
  expect(talk.trouble).toBeUndefined();
  expect(logged).toHaveLength(2);
});

it('leaving, it says its last turn once, hears nothing more, and is finished when that is answered', async () => {
  talk.speak();
  talk.leave();
  party.looks = false;
  let isFinished = false;
  const finished = talk.finish(800).then(() => {
    isFinished = true;
  });
  await answer();
  expect(session.turns.map(({ isLast }) => isLast)).toEqual([false, true]);
  expect([talk.state, isFinished]).toEqual(['leaving', false]);
  await answer();
  await finished;
  expect([talk.state, session.turns.length]).toEqual(['closed', 2]);
});

it('leaving, it does not wait for the end of a pause, and pauses for less long', async () => {
  talk.speak();
  session.refuse(new Error('NOPERM'));
  await rest();
  talk.leave();
  expect(session.turns).toHaveLength(2);
  session.refuse(new Error('NOPERM'));
  await clock.elapse(100);
  expect(session.turns).toHaveLength(3);
});

it('it is closed when its time to finish is over, whatever is in flight; a late answer is still taken in', async () => {
  talk.speak();
  talk.leave();
  const finished = talk.finish(800);
  await clock.elapse(800);
  await finished;
  expect(talk.state).toBe('closed');
  await answer(0);
  party.owes = true;
  talk.speak();
  await clock.elapse(60_000);
  expect([party.taken, session.turns.length]).toEqual([1, 1]);
});

it('while one of two turns is refused the answer of the other does not mean that it goes on', async () => {
  party.mayOverlap = true;
  party.holds = true;
  talk.speak();
  await answer();
  party.owes = true;
  talk.speak();
  expect(session.underWay).toHaveLength(2);
  session.refuse(new Error('NOPERM'));
  await answer();
  expect([talk.state, logged.length]).toEqual(['paused', 1]);
  expect(String((talk.trouble as Error).message)).toBe('NOPERM');
  await clock.elapse(1_000);
  await answer();
  expect([talk.trouble, logged.length]).toEqual([undefined, 2]);
});

it('what an answer says of recurrences is done until the talk is closed', async () => {
  talk.speak();
  session.answer({ short: ['digest'] });
  await rest();
  await clock.elapse(7_000);
  expect(tended).toEqual([['digest'], []]);
  talk.close();
  await clock.elapse(60_000);
  expect(tended).toHaveLength(2);
});

it('what the answer to the last turn says of recurrences is left to others', async () => {
  talk.speak();
  await answer();
  party.looks = false;
  talk.leave();
  session.answer({ short: ['digest'], tendInMs: 0 });
  await clock.elapse(0);
  expect(tended).toEqual([]);
});

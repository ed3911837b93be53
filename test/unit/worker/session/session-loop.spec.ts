import { beforeEach, expect, it } from '@jest/globals';
import { Caretakers } from '../../../../lib/worker/recur/caretakers.js';
import { Reporter } from '../../../../lib/worker/report/reporter.js';
import { SessionLoop } from '../../../../lib/worker/session/session-loop.js';
import { AT_ONCE, NEVER } from '../../../../lib/worker/session/turn-plan.js';
import type { TurnWriter } from '../../../../lib/worker/session/turn-writer.js';
import { TurnsInFlight, type WrittenTurn } from '../../../../lib/worker/session/turns-in-flight.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { EVENTS, LOG, SessionByHand } from '../../../support/session-by-hand.js';

const LEASE_MS = 3_000;

/** A writer that does what the test says. */
class WriterByHand implements TurnWriter {
  owesBy = NEVER;
  looks = true;
  holds = false;
  mayOverlap = false;
  taken = 0;
  refusals: unknown[] = [];

  writeTurn(_isTimeToRenew: boolean, isLast: boolean): WrittenTurn {
    this.owesBy = NEVER;
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

  onAnswer(): void {
    this.taken++;
  }

  onRefusal(error: unknown): void {
    this.refusals.push(error);
  }
}

let clock: ManualClock;
let session: SessionByHand;
let writer: WriterByHand;
let loop: SessionLoop;
let logged: string[];
/** The ids that were tended, call by call. */
let tended: (readonly string[])[];

beforeEach(() => {
  clock = new ManualClock();
  session = new SessionByHand();
  writer = new WriterByHand();
  logged = [];
  tended = [];
  const tend = async (short: readonly string[]) => {
    tended.push(short);
    return 7_000;
  };
  const caretakers = new Caretakers({ queue: () => ({ recurrences: { tend } }) as never }, clock, LOG);
  const tell = (line: string) => void logged.push(line);
  const reporter = new Reporter({ log: tell, warn: tell, error: tell }, EVENTS, clock, { trackCurrentJob: false });
  loop = new SessionLoop(session, new TurnsInFlight(), reporter, clock, {
    queue: 'q',
    leaseMs: LEASE_MS,
    timerName: 'test',
    caretakers,
  });
  loop.setWriter(writer);
  loop.listen();
});

/** Answers the turn in flight. */
async function answer(sleepMs = 60_000): Promise<void> {
  session.answer({ sleepMs });
  await rest();
}

it('idle, it says nothing by itself, and looks as soon as its writer takes jobs', async () => {
  writer.looks = false;
  loop.speak();
  await clock.elapse(600_000);
  expect([loop.state, session.turns.length]).toEqual(['idle', 0]);
  writer.looks = true;
  loop.lookSoon();
  await rest();
  expect([loop.state, session.turns.length]).toEqual(['talking', 1]);
});

it('sleeping, it wakes half a millisecond before something is due, and earlier for a hint', async () => {
  loop.speak();
  await answer(1_000.5);
  expect(loop.state).toBe('sleeping');
  await clock.elapse(999);
  expect(session.turns).toHaveLength(1);
  await clock.elapse(1);
  expect(session.turns).toHaveLength(2);
  await answer(1_000);
  session.hints!.look(0);
  expect(session.turns).toHaveLength(3);
});

it('sleeping, it renews what its writer holds a third of a lease after the last renewal was sent', async () => {
  loop.speak();
  writer.holds = true;
  await clock.elapse(100);
  await answer();
  await clock.elapse(LEASE_MS / 3 - 101);
  expect(session.turns).toHaveLength(1);
  await clock.elapse(1);
  expect(session.turns).toHaveLength(2);
});

it('talking, it says what comes up meanwhile with the next turn, and no second one beside the first unless that is worth it', async () => {
  loop.speak();
  writer.owesBy = AT_ONCE;
  loop.speak();
  expect(session.turns).toHaveLength(1);
  await answer();
  expect([loop.state, session.turns.length]).toEqual(['talking', 2]);
  writer.mayOverlap = true;
  loop.speak();
  // Three are never in flight.
  loop.speak();
  expect(session.underWay).toHaveLength(2);
});

it('sleeping, it says what may linger when its time is over, or with a turn that goes out before', async () => {
  loop.speak();
  await answer();
  writer.owesBy = clock.now() + 10;
  loop.saySoon();
  await clock.elapse(9);
  expect([loop.state, session.turns.length]).toEqual(['sleeping', 1]);
  await clock.elapse(1);
  expect(session.turns).toHaveLength(2);
  await answer();
  writer.owesBy = clock.now() + 10;
  loop.look(0);
  expect(session.turns).toHaveLength(3);
});

it('leaving, it says at once what may linger', async () => {
  loop.speak();
  await answer();
  writer.owesBy = clock.now() + 10;
  loop.leaveSession();
  expect(session.turns).toHaveLength(2);
  await answer();
  writer.owesBy = clock.now() + 10;
  loop.saySoon();
  await rest();
  expect(session.turns).toHaveLength(3);
});

it('what comes up in one round of the event loop goes with one turn', async () => {
  loop.speak();
  await answer();
  for (let i = 0; i < 3; i++) {
    writer.owesBy = AT_ONCE;
    loop.saySoon();
  }
  expect(session.turns).toHaveLength(1);
  await rest();
  expect(session.turns).toHaveLength(2);
});

it('while it gathers, it says nothing', async () => {
  writer.owesBy = AT_ONCE;
  loop.deferToRoundEnd();
  loop.speak();
  expect(session.turns).toEqual([]);
  await rest();
  expect(session.turns).toHaveLength(1);
});

it('paused after a refusal, it says nothing for a second, and then the very same turn; the log says both once', async () => {
  loop.speak();
  const [turn] = session.turns;
  for (let time = 1; time <= 3; time++) {
    session.refuse(new Error('NOPERM'));
    await rest();
    writer.owesBy = AT_ONCE;
    loop.speak();
    await clock.elapse(999);
    expect([loop.state, session.turns.length]).toEqual(['paused', time]);
    await clock.elapse(1);
    expect(session.turns.at(-1)).toBe(turn);
  }
  expect(writer.refusals).toHaveLength(3);
  expect(String((loop.trouble as Error).message)).toBe('NOPERM');
  await answer();
  expect(loop.trouble).toBeUndefined();
  expect(logged).toHaveLength(2);
});

it('leaving, it says its last turn once, hears nothing more, and is finished when that is answered', async () => {
  loop.speak();
  loop.leaveSession();
  writer.looks = false;
  let isFinished = false;
  const finished = loop.finishSession(800).then(() => {
    isFinished = true;
  });
  await answer();
  expect(session.turns.map(({ isLast }) => isLast)).toEqual([false, true]);
  expect([loop.state, isFinished]).toEqual(['leaving', false]);
  await answer();
  await finished;
  expect([loop.state, session.turns.length]).toEqual(['closed', 2]);
});

it('leaving, it does not wait for the end of a pause, and pauses for less long', async () => {
  loop.speak();
  session.refuse(new Error('NOPERM'));
  await rest();
  loop.leaveSession();
  expect(session.turns).toHaveLength(2);
  session.refuse(new Error('NOPERM'));
  await clock.elapse(100);
  expect(session.turns).toHaveLength(3);
});

it('it is closed when its time to finish is over, whatever is in flight; a late answer is still taken in', async () => {
  loop.speak();
  loop.leaveSession();
  const finished = loop.finishSession(800);
  await clock.elapse(800);
  await finished;
  expect(loop.state).toBe('closed');
  await answer(0);
  writer.owesBy = AT_ONCE;
  loop.speak();
  await clock.elapse(60_000);
  expect([writer.taken, session.turns.length]).toEqual([1, 1]);
});

it('while one of two turns is refused the answer of the other does not mean that it goes on', async () => {
  writer.mayOverlap = true;
  writer.holds = true;
  loop.speak();
  await answer();
  writer.owesBy = AT_ONCE;
  loop.speak();
  expect(session.underWay).toHaveLength(2);
  session.refuse(new Error('NOPERM'));
  await rest();
  expect([loop.state, session.underWay.length]).toEqual(['paused', 1]);
  await answer();
  expect([loop.state, logged.length]).toEqual(['paused', 1]);
  expect(String((loop.trouble as Error).message)).toBe('NOPERM');
  await clock.elapse(1_000);
  await answer();
  expect([loop.trouble, logged.length]).toEqual([undefined, 2]);
});

it('what an answer says of recurrences is done until the loop is closed', async () => {
  loop.speak();
  session.answer({ toTend: ['digest'] });
  await rest();
  await clock.elapse(7_000);
  expect(tended).toEqual([['digest'], []]);
  loop.lookSoon();
  await rest();
  loop.closeSession();
  session.answer({ toTend: ['digest'] });
  await clock.elapse(60_000);
  expect(tended).toHaveLength(2);
});

it('what the answer to the last turn says of recurrences is left to others', async () => {
  loop.speak();
  await answer();
  writer.looks = false;
  loop.leaveSession();
  session.answer({ toTend: ['digest'], tendInMs: 0 });
  await clock.elapse(0);
  expect(tended).toEqual([]);
});

import { beforeEach, expect, it, jest } from '@jest/globals';
import { Relay } from '../../../../lib/worker/relay/relay.js';
import { Reporter } from '../../../../lib/worker/report/reporter.js';
import { SessionLoop } from '../../../../lib/worker/session/session-loop.js';
import { TurnsInFlight } from '../../../../lib/worker/session/turns-in-flight.js';
import { ManualClock, rest } from '../../../support/manual-clock.js';
import { CARETAKERS, EVENTS, LOG, SessionByHand } from '../../../support/session-by-hand.js';

let clock: ManualClock;
let session: SessionByHand;
let relay: Relay;

beforeEach(() => {
  clock = new ManualClock();
  session = new SessionByHand();
  const reporter = new Reporter(LOG, EVENTS, clock, { trackCurrentJob: false });
  const loop = new SessionLoop(session, new TurnsInFlight(), reporter, clock, {
    queue: 'q',
    timerName: 'test',
    caretakers: CARETAKERS,
  });
  relay = new Relay(loop, 10);
  relay.start();
});

/** Tells whether a stop has resolved. */
function stop(withinMs: number) {
  const stopped = jest.fn();
  void relay.stop(withinMs).then(stopped);
  return stopped;
}

it('it looks again at once while a batch was full, and stops with a last turn that moves nothing', async () => {
  session.answer({ sleepMs: undefined });
  expect(await session.next(2)).toMatchObject({ limit: 10, isLast: false, standing: 'stays' });
  const stopped = stop(800);
  session.answer({ sleepMs: undefined });
  expect(await session.next(3)).toMatchObject({ limit: 0, isLast: true, standing: 'goes' });
  session.answer();
  await rest();
  expect(stopped).toHaveBeenCalled();
  expect(clock.nextAt).toBe(Number.POSITIVE_INFINITY);
});

it('one whose turn has been refused stops at once, and says nothing more', async () => {
  session.refuse(new Error('WRONGTYPE'));
  await rest();
  const stopped = stop(800);
  await rest();
  expect(stopped).toHaveBeenCalled();
  await clock.elapse(60_000);
  expect(session.turns).toHaveLength(1);
});

it('one that is being stopped, and is stopped again within less time, stops within that', async () => {
  const stopped = stop(30_000);
  const stoppedSooner = stop(800);
  await clock.elapse(799);
  expect(stoppedSooner).not.toHaveBeenCalled();
  await clock.elapse(1);
  expect([stopped, stoppedSooner].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  const stoppedAgain = stop(800);
  await rest();
  expect(stoppedAgain).toHaveBeenCalled();
});

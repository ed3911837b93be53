import type { Clock } from '../../core/clock.js';
import type { EventSink } from '../../core/job/events.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { Session } from '../../store/job-store.js';
import { Occupancy } from '../capacity/occupancy.js';
import type { Solitude } from '../capacity/solitude.js';
import type { Caretakers } from '../recur/caretakers.js';
import type { Reporter } from '../report/reporter.js';
import { ClaimOpener } from '../run/claim-opener.js';
import type { KeptResults } from '../run/kept-results.js';
import { type SettingsByName, Settler } from '../run/settler.js';
import { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import { PendingSettlements } from '../session/pending-settlements.js';
import { SessionLoop } from '../session/session-loop.js';
import { TurnsInFlight } from '../session/turns-in-flight.js';
import { HeldJobs } from './held-jobs.js';
import { PopCounter } from './pop-counter.js';
import { Puller } from './puller.js';
import { WaitingPops } from './waiting-pops.js';

export interface PullerSetup {
  readonly queue: string;
  readonly session: Session;
  readonly byName: SettingsByName;
  readonly results: KeptResults | undefined;
  readonly codecs: Codecs;
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  readonly timerName: string;
  readonly solitude: Solitude;
  readonly caretakers: Caretakers;
  readonly reporter: Reporter;
  readonly events: EventSink;
  readonly clock: Clock;
}

/** Makes one puller: here stands which of its parts knows which. Each knows those that were made before it. */
export function openPuller(setup: PullerSetup): Puller {
  const { queue, session, byName, results, codecs, leaseMs, commandTimeoutMs, timerName } = setup;
  const { solitude, caretakers, reporter, events, clock } = setup;
  const pending = new PendingSettlements();
  const toConfirm = new ClaimsToConfirm(pending);
  const loop = new SessionLoop(session, new TurnsInFlight(), reporter, clock, {
    queue,
    leaseMs,
    timerName,
    caretakers,
  });
  const settler = new Settler(byName, results);
  // Nobody renews their leases.
  const leases = { renewal: () => undefined, heldUntil: (askedAt: number) => askedAt + leaseMs };
  const opener = new ClaimOpener({ queue, leases, events, clock }, byName, codecs, settler);
  const held = new HeldJobs(queue, pending, loop, commandTimeoutMs, clock);
  const pops = new WaitingPops(queue, commandTimeoutMs, clock, loop);
  const counter = new PopCounter(opener, settler, pending, held, pops, leaseMs, events);
  const occupancy = new Occupancy(queue, false, solitude, loop, pending, toConfirm, held);
  return new Puller({ leaseMs, loop, pending, toConfirm, pops, held, counter, occupancy, clock });
}

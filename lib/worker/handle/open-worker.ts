import type { QueueSettings } from '../../core/options/queue-options.js';
import type { PayloadChecker } from '../../core/payload/payload-class.js';
import type { Session } from '../../store/job-store.js';
import { BatchCalls } from '../batch/batch-calls.js';
import { Collections } from '../batch/collections.js';
import { Capacity } from '../capacity/capacity.js';
import { HolderInProcess } from '../capacity/holder-in-process.js';
import { Places } from '../capacity/places.js';
import type { InstanceParts } from '../instance-parts.js';
import type { Reporter } from '../report/reporter.js';
import type { StuckLog } from '../report/stuck-log.js';
import { ClaimOpener } from '../run/claim-opener.js';
import type { BatchHandler, JobHandler, SingleHandler } from '../run/job-handler.js';
import type { KeptResults } from '../run/kept-json.js';
import { LeaseClock } from '../run/lease-clock.js';
import type { NextSteps } from '../run/next-steps.js';
import { PayloadReader } from '../run/payload-reader.js';
import { Processor } from '../run/processor.js';
import { ProgressReports } from '../run/progress-reports.js';
import { RunningJobs } from '../run/running-jobs.js';
import { SettlementBuilder } from '../run/settlement-builder.js';
import { ClaimsToConfirm } from '../session/claims-to-confirm.js';
import { Linger } from '../session/linger.js';
import { PendingSettlements } from '../session/pending-settlements.js';
import { SessionLoop } from '../session/session-loop.js';
import { TurnsInFlight } from '../session/turns-in-flight.js';
import { QueueWorker } from './queue-worker.js';
import { Runs, type RunsParts } from './runs.js';

export interface WorkerSetup
  extends Pick<InstanceParts, 'codecs' | 'events' | 'observers' | 'isolation' | 'caretakers' | 'clock'> {
  readonly queue: string;
  readonly session: Session;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly settings: QueueSettings;
  readonly results: KeptResults | undefined;
  readonly steps: NextSteps;
  readonly checker: PayloadChecker;
  readonly reporter: Reporter;
  /** Shared by all workers of the process. */
  readonly stuckLog: StuckLog;
  /** What the names of its timers begin with. */
  readonly timerName: string;
  /** Makes its runs, for a test that watches them. */
  readonly openRuns?: (parts: RunsParts) => Runs;
}

/** Makes the worker of one queue: here stands which of its parts knows which. Each knows those that were made before it. */
export function openWorker(setup: WorkerSetup): QueueWorker {
  const { queue, session, handlers, settings, results, codecs, checker } = setup;
  const { events, observers, reporter, isolation, caretakers, clock, timerName } = setup;
  const { leaseMs } = settings;
  const linger = new Linger(clock, settings.maxCrashes);
  const pending = new PendingSettlements(linger);
  const inFlight = new TurnsInFlight();
  const toConfirm = new ClaimsToConfirm(pending);
  const running = new RunningJobs(clock, `${timerName}:timeouts`, setup.stuckLog);
  const { singles, batched } = byKind(handlers.values());
  const collections = batched.length > 0 ? new Collections(batched, settings, clock) : undefined;
  const places = new Places(settings.concurrency, handlers, running, collections);
  const capacity = new Capacity(settings, places, collections, inFlight, pending);
  const loop = new SessionLoop(session, inFlight, reporter, clock, { queue, leaseMs, timerName, caretakers });
  const leases = new LeaseClock(leaseMs, clock, loop);
  const builder = new SettlementBuilder(handlers, results, setup.steps);
  const progress = new ProgressReports(queue, loop, reporter, clock, `${timerName}:progress`);
  const context = { queue, leases, events, clock, progress };
  const opener = new ClaimOpener(context, handlers, codecs, builder);
  const reader = new PayloadReader(opener, codecs, checker, builder);
  const processor = new Processor(context, singles, opener, reader, builder, observers);
  const shared = { context, places, inFlight, toConfirm, opener, reader, builder, observers };
  const batches = collections && new BatchCalls({ ...shared, collections, timerName: `${timerName}:batches` });
  const { openRuns = (parts: RunsParts) => new Runs(parts) } = setup;
  const runs = openRuns({ queue, running, processor, batches, builder, pending, loop, reporter, observers });
  const holder = new HolderInProcess(queue, true, isolation, loop, pending, toConfirm, runs);
  const held = { pending, linger, toConfirm, running, collections, runs };
  return new QueueWorker({ ...held, queue, leaseMs, loop, capacity, leases, isolation, holder, progress });
}

function byKind(handlers: Iterable<JobHandler>) {
  const singles = new Map<string, SingleHandler>();
  const batched: BatchHandler[] = [];
  for (const handler of handlers)
    if (handler.runBatch) batched.push(handler);
    else singles.set(handler.name, handler);
  return { singles, batched };
}

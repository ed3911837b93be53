import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { PoppedJob } from '../../core/job/popped-job.js';
import type { Log } from '../../core/log.js';
import type { PopRequest } from '../../core/options/pop-options.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { type RunSettings, resolveRunSettings } from '../../core/options/run-settings.js';
import type { Timers } from '../../core/timers.js';
import type { JobStore } from '../../store/job-store.js';
import type { Solitude } from '../capacity/solitude.js';
import { ClaimOpener } from '../run/claim-opener.js';
import { keptResults } from '../run/kept-results.js';
import { Settler } from '../run/settler.js';
import { Reporter } from '../session/reporter.js';
import { Puller } from './puller.js';

export interface PullersOptions {
  workerId: string;
  commandTimeoutMs: number;
  settingsOf(queue: string): QueueSettings;
  /** Also the most that is kept of a job's result. */
  maxPayloadBytes: number;
  /** What configuration says of jobs by name. */
  jobs: ReadonlyMap<string, Partial<RunSettings>>;
  /** What the names of their timers begin with. */
  timerPrefix: string;
  /** Shared by all that may hold jobs in this module instance. */
  solitude: Solitude;
}

/** How many pullers each pop checks for being done. More than the one that it may add, so that pullers do not pile up. */
const LOOKED_AT_A_POP = 2;

/** The pullers of this process: one for each queue and set of names that somebody has popped from. */
export class Pullers {
  private readonly pullers = new Map<string, Puller>();
  private opened = 0;
  private stopped = false;

  constructor(
    private readonly store: JobStore,
    /** Found when first needed: what the application has of timers is only known once it has started. */
    private readonly findTimers: () => Timers,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: PullersOptions,
  ) {}

  /** Throws `QueueClosedError` after `stop`, and `QueueUnavailableError`. */
  async pop({ queue, names, count, waitMs }: PopRequest): Promise<PoppedJob[]> {
    if (this.stopped)
      throw new QueueClosedError('pop: the application is closing; nothing more is claimed.', { queue });
    const key = JSON.stringify([queue, names]);
    this.letGoOthers(key);
    let puller = this.pullers.get(key);
    if (!puller) {
      puller = this.open(queue, names);
      this.pullers.set(key, puller);
    }
    return await puller.pop(count, waitMs);
  }

  /** Pops that wait end with no jobs, and later ones are refused. Popped jobs can still be settled. */
  stop(): void {
    this.stopped = true;
    for (const puller of this.pullers.values()) puller.stop();
  }

  /** Popped jobs that nobody has settled go back. Resolves within `patienceMs`, whatever Redis does. */
  async close(patienceMs: number): Promise<void> {
    this.stop();
    await Promise.all([...this.pullers.values()].map((puller) => puller.close(patienceMs)));
  }

  /** Retires pullers that are done, so that sets of names that are used once do not pile up. `wanted`: the key of the present pop. */
  private letGoOthers(wanted: string): void {
    for (const [key, puller] of [...take(this.pullers, LOOKED_AT_A_POP)]) {
      this.pullers.delete(key);
      if (key !== wanted && puller.isDone) puller.stop();
      // It goes to the end of the map, so that later pops look at all others first.
      else this.pullers.set(key, puller);
    }
  }

  private open(queue: string, names: readonly string[] | undefined): Puller {
    const { workerId, commandTimeoutMs, settingsOf, maxPayloadBytes, jobs, timerPrefix, solitude } = this.options;
    const settings = settingsOf(queue);
    const { leaseMs } = settings;
    const byName = { get: (name: string) => ({ settings: resolveRunSettings(jobs.get(name)) }) };
    const settler = new Settler(byName, keptResults(settings, maxPayloadBytes));
    return new Puller(
      queue,
      this.store.queue(queue).sessions.pull(workerId, names),
      new ClaimOpener(queue, byName, leaseMs, settler, this.events),
      settler,
      { leaseMs, commandTimeoutMs, timerName: `${timerPrefix}:${queue}:pull-${++this.opened}`, solitude },
      this.findTimers(),
      new Reporter(this.log, this.events, 'pull'),
      this.events,
    );
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken++ === count) return;
    yield item;
  }
}

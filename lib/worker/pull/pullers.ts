import type { Clock } from '../../core/clock.js';
import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { PoppedJob } from '../../core/job/popped-job.js';
import type { Log } from '../../core/log.js';
import type { PopRequest } from '../../core/options/pop-options.js';
import type { QueueSettings } from '../../core/options/queue-options.js';
import { type RunSettings, resolveRunSettings } from '../../core/options/run-settings.js';
import type { Codecs } from '../../core/payload/codecs.js';
import type { JobStore } from '../../store/job-store.js';
import type { SuspectIsolation } from '../capacity/suspect-isolation.js';
import type { Caretakers } from '../recur/caretakers.js';
import { Reporter } from '../report/reporter.js';
import { keptResults } from '../run/kept-json.js';
import { HeldJob } from './held-jobs.js';
import { Puller } from './puller.js';

export interface PullersOptions {
  codecs: Codecs;
  workerId: string;
  commandTimeoutMs: number;
  trackCurrentJob: boolean;
  settingsOf(queue: string): QueueSettings;
  /** Also the most that is kept of a job's result. */
  maxPayloadBytes: number;
  /** What configuration says of jobs by name. */
  jobs: ReadonlyMap<string, Partial<RunSettings>>;
  /** What the names of their timers begin with. */
  timerPrefix: string;
  /** Shared by all that may hold jobs in this module instance. */
  isolation: SuspectIsolation;
  /** Shared likewise. */
  caretakers: Caretakers;
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
    private readonly clock: Clock,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: PullersOptions,
  ) {}

  /** Throws `QueueClosedError` after `stop`, and `QueueUnavailableError`. */
  async pop(request: PopRequest): Promise<PoppedJob[]> {
    const { queue, names, count, waitMs } = request;
    if (this.stopped)
      throw new QueueClosedError('pop: the application is closing; nothing more is claimed.', { queue });
    const key = JSON.stringify([queue, names]);
    this.letGoOthers(key);
    let puller = this.pullers.get(key);
    if (!puller) {
      puller = this.open(queue, names);
      this.pullers.set(key, puller);
    }
    const askedAt = this.clock.now();
    const jobs = await puller.pop(count, waitMs);
    if (!jobs.some(HeldJob.isDecoding)) return jobs;
    const decoded = await Promise.all(jobs.map((job) => HeldJob.decode(job)));
    const readable = jobs.filter((_, i) => decoded[i]);
    if (readable.length > 0 || this.stopped) return readable;
    // All of them have been settled for that, so the next ones are others.
    return await this.pop({ ...request, waitMs: Math.max(0, askedAt + waitMs - this.clock.now()) });
  }

  /** Pops that wait end with no jobs, and later ones are refused. Popped jobs can still be settled. */
  stop(): void {
    this.stopped = true;
    for (const puller of this.pullers.values()) puller.stop();
  }

  /** Popped jobs that nobody has settled go back. Resolves within `withinMs`, whatever Redis does. */
  async close(withinMs: number): Promise<void> {
    this.stop();
    await Promise.all([...this.pullers.values()].map((puller) => puller.close(withinMs)));
  }

  /** Retires pullers that are done, so that sets of names that are used once do not pile up. `wanted`: the key of the present pop. */
  private letGoOthers(wanted: string): void {
    for (const [key, puller] of [...take(this.pullers, LOOKED_AT_A_POP)]) {
      this.pullers.delete(key);
      if (key !== wanted && puller.isDone) puller.retire();
      // It goes to the end of the map, so that later pops look at all others first.
      else this.pullers.set(key, puller);
    }
  }

  private open(queue: string, names: readonly string[] | undefined): Puller {
    const { store, log, events, clock } = this;
    const { workerId, codecs, commandTimeoutMs, settingsOf, maxPayloadBytes, jobs, timerPrefix } = this.options;
    const { isolation, caretakers, trackCurrentJob } = this.options;
    const settings = settingsOf(queue);
    return new Puller({
      queue,
      session: store.queue(queue).sessions.pull(workerId, names),
      byName: { get: (name) => ({ settings: resolveRunSettings(jobs.get(name)) }) },
      results: keptResults(settings, maxPayloadBytes),
      codecs,
      leaseMs: settings.leaseMs,
      commandTimeoutMs,
      timerName: `${timerPrefix}:${queue}:pull-${++this.opened}`,
      isolation,
      caretakers,
      reporter: new Reporter(log, events, clock, { who: 'pull', trackCurrentJob }),
      events,
      clock,
    });
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    if (taken++ === count) return;
    yield item;
  }
}

import { QueueClosedError } from '../../core/errors.js';
import type { PoppedJob } from '../../core/job/popped-job.js';
import type { PopRequest } from '../../core/options/pop-options.js';
import { resolveRunSettings } from '../../core/options/run-settings.js';
import type { InstanceParts } from '../instance-parts.js';
import { Reporter } from '../report/reporter.js';
import { keptResults } from '../run/kept-json.js';
import { NextSteps } from '../run/next-steps.js';
import { HeldJob } from './held-jobs.js';
import { Puller } from './puller.js';

/** How many pullers each pop checks for being done. More than the one that it may add, so that pullers do not pile up. */
const LOOKED_AT_A_POP = 2;

/** The pullers of this process: one for each queue and set of names that somebody has popped from. */
export class Pullers {
  private readonly pullers = new Map<string, Puller>();
  private opened = 0;
  private stopped = false;

  constructor(private readonly instance: InstanceParts) {}

  /** Throws `QueueClosedError` after `stop`, and `QueueUnavailableError`. */
  async pop(request: PopRequest): Promise<PoppedJob[]> {
    const tellReceived = this.instance.observers.tracer?.beginReceive(request.queue);
    const jobs = await this.take(request);
    if (jobs.length > 0) tellReceived?.(jobs);
    return jobs;
  }

  private async take(request: PopRequest): Promise<PoppedJob[]> {
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
    const askedAt = this.instance.clock.now();
    const jobs = await puller.pop(count, waitMs);
    if (!jobs.some(HeldJob.isDecoding)) return jobs;
    const decoded = await Promise.all(jobs.map((job) => HeldJob.decode(job)));
    const readable = jobs.filter((_, i) => decoded[i]);
    if (readable.length > 0 || this.stopped) return readable;
    // All of them have been settled for that, so the next ones are others.
    return await this.take({ ...request, waitMs: Math.max(0, askedAt + waitMs - this.instance.clock.now()) });
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
    const { store, log, events, clock, workerId, maxPayloadBytes, jobs, timerPrefix, trackCurrentJob } = this.instance;
    const settings = this.instance.settingsOf(queue);
    return new Puller({
      ...this.instance,
      queue,
      session: store.queue(queue).sessions.pull(workerId, names),
      byName: { get: (name) => ({ settings: resolveRunSettings(jobs.get(name)) }) },
      results: keptResults(settings, maxPayloadBytes),
      steps: new NextSteps(clock, maxPayloadBytes),
      leaseMs: settings.leaseMs,
      timerName: `${timerPrefix}:${queue}:pull-${++this.opened}`,
      reporter: new Reporter(log, events, clock, { who: 'pull', trackCurrentJob }),
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

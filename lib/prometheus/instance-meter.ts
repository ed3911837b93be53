import { EVENT_TYPES, type ScheduledQueueEvent, type ScheduledQueueEventType } from '../core/job/events.js';
import type { Meter } from '../core/observe/meter.js';
import type { JobNames } from './job-names.js';
import type { RegistryMetrics } from './registry-metrics.js';
import type { Count, Distribution } from './tallies.js';

/** The series of the jobs of one name in one queue. */
interface JobSeries {
  readonly events: Readonly<Record<ScheduledQueueEventType, Count>>;
  readonly lateness: Distribution;
  readonly runs: Distribution;
}

interface QueueSeries {
  readonly claims: Distribution;
  /** By the label of their names. */
  readonly jobs: Map<string, JobSeries>;
}

/** Counts what one instance of the module does. Each series is looked up once, and added to from then on. */
export class InstanceMeter implements Meter {
  private readonly queues = new Map<string, QueueSeries>();
  private readonly calls = this.metrics.calls.of({});

  constructor(
    private readonly metrics: RegistryMetrics,
    private readonly names: JobNames,
    /** What a queue reads in the label `queue`. */
    private readonly labelOf: (queue: string) => string,
  ) {}

  redisAnswered(durationMs: number): void {
    this.calls.add(durationMs / 1_000);
  }

  jobsClaimed(queue: string, count: number): void {
    this.queueOf(queue).claims.add(count);
  }

  runEnded(queue: string, name: string, durationMs: number): void {
    this.jobOf(queue, name).runs.add(durationMs / 1_000);
  }

  happened(event: ScheduledQueueEvent): void {
    const job = this.jobOf(event.queue, 'name' in event ? event.name : '');
    job.events[event.type].count++;
    if (event.type === 'started') job.lateness.add(event.latenessMs / 1_000);
  }

  private queueOf(queue: string): QueueSeries {
    return this.queues.get(queue) ?? this.addQueue(queue);
  }

  private jobOf(queue: string, name: string): JobSeries {
    const label = this.names.labelOf(name);
    return this.queueOf(queue).jobs.get(label) ?? this.addJob(queue, label);
  }

  private addQueue(queue: string): QueueSeries {
    const series = { claims: this.metrics.claims.of({ queue: this.labelOf(queue) }), jobs: new Map() };
    this.queues.set(queue, series);
    return series;
  }

  /** Every type is there from the first event on, as 0: of a counter that begins with 1, Prometheus does not see that it has grown. */
  private addJob(queue: string, job: string): JobSeries {
    const { events, lateness, runs } = this.metrics;
    const labels = { queue: this.labelOf(queue), job };
    const byType = Object.fromEntries(EVENT_TYPES.map((type) => [type, events.of({ ...labels, type })]));
    const series = { events: byType as JobSeries['events'], lateness: lateness.of(labels), runs: runs.of(labels) };
    this.queueOf(queue).jobs.set(job, series);
    return series;
  }
}

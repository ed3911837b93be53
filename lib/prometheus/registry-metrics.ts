import { type Aggregator, Gauge, type Metric, type Registry, type RegistryContentType } from 'prom-client';
import { InvalidOptionsError } from '../core/errors.js';
import { type Reading, Scrapes } from './scrapes.js';
import { Counter, Histogram } from './tallies.js';

/** From a job that is on time to an outage of hours. */
const LATENESS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 1, 5, 15, 60, 300, 900, 3_600, 14_400];
/** Up to the default of `timeoutMs`. */
const RUN_S = [0.001, 0.005, 0.025, 0.1, 0.25, 1, 2.5, 10, 30, 60, 300, 900, 1_800];
/** From a call on the same machine to the default of `commandTimeoutMs`. */
const CALL_S = [0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 5];
/** Up to the most that a turn claims. */
const CLAIM_SIZE = [1, 2, 5, 10, 20, 50, 100, 200, 500];

const SUMMED = 'Counted by each process:';
const ALIKE = 'Read from Redis, alike in every process:';

/** A metric. The types of prom-client leave its name out. */
interface Named {
  readonly name: string;
}

/** The metrics of each registry that has them. */
const known = new WeakMap<object, RegistryMetrics>();

/** The metrics of one registry. All instances and applications of the process that use the registry share them. */
export class RegistryMetrics {
  readonly scrapes = new Scrapes();
  /** The names of jobs that the process tells apart by number. */
  readonly namesMet = new Set<string>();

  readonly events = new Counter(
    'scheduled_queue_events_total',
    `What has happened to jobs in this process, by type of event. ${SUMMED} sum by (queue, type).`,
  );
  readonly lateness = new Histogram(
    'scheduled_queue_lateness_seconds',
    `How long after its due time a job started, in seconds. ${SUMMED} sum by (queue, le).`,
    LATENESS_S,
  );
  readonly runs = new Histogram(
    'scheduled_queue_run_seconds',
    `How long a run of a handler took, however it ended, in seconds. ${SUMMED} sum by (queue, le).`,
    RUN_S,
  );
  readonly claims = new Histogram(
    'scheduled_queue_claim_size',
    `How many jobs one claim brought. ${SUMMED} sum by (queue, le).`,
    CLAIM_SIZE,
  );
  readonly calls = new Histogram(
    'scheduled_queue_redis_call_seconds',
    `How long a call to Redis took until it was answered, in seconds. ${SUMMED} sum by (le).`,
    CALL_S,
  );

  private readonly gauges = [
    this.gauge(
      'scheduled_queue_clock_offset_seconds',
      "How far Redis' clock is ahead of that of this process, in seconds. Each process has its own: no aggregation.",
      'average',
      [],
      (gauge, { offsetMs }) => offsetMs !== undefined && gauge.set(offsetMs / 1_000),
    ),
    this.gauge(
      'scheduled_queue_redis_up',
      '1 where Redis has answered this process within 2 seconds, else 0. min for all processes.',
      'min',
      [],
      (gauge, { isUp }) => isUp !== undefined && gauge.set(isUp ? 1 : 0),
    ),
    this.gauge(
      'scheduled_queue_jobs',
      `How many jobs are in each state. ${ALIKE} max by (queue, state).`,
      'max',
      ['queue', 'state'],
      (gauge, { queues }) => {
        for (const [queue, { counts }] of queues)
          for (const [state, count] of Object.entries(counts)) gauge.set({ queue, state }, count);
      },
    ),
    this.gauge(
      'scheduled_queue_oldest_due_seconds',
      `How late the oldest due job is, in seconds; 0 where none is due. ${ALIKE} max by (queue).`,
      'max',
      ['queue'],
      (gauge, { queues }) => {
        for (const [queue, { dueAtMs, nowMs }] of queues)
          gauge.set({ queue }, dueAtMs === undefined ? 0 : Math.max(0, nowMs - dueAtMs) / 1_000);
      },
    ),
  ];

  private constructor() {}

  /** The metrics of this registry; made if it has none. Throws `InvalidOptionsError` if it has metrics of these names from elsewhere. */
  static of(registry: Registry<RegistryContentType>): RegistryMetrics {
    const there = known.get(registry);
    // After `registry.clear()` none of them is registered any more; then they are made anew.
    if (there?.all.some(({ name }) => registry.getSingleMetric(name) !== undefined)) return there;
    const made = new RegistryMetrics();
    const taken = made.all.find(({ name }) => registry.getSingleMetric(name) !== undefined);
    if (taken) throw namesTaken(taken.name);
    for (const metric of made.all) registry.registerMetric(metric as unknown as Metric);
    known.set(registry, made);
    return made;
  }

  private get all(): readonly Named[] {
    const { events, lateness, runs, claims, calls, gauges } = this;
    return [events, lateness, runs, claims, calls, ...gauges];
  }

  /** `show` sets the values of a reading. A series that it does not set is missing from the scrape. */
  private gauge<Label extends string>(
    name: string,
    help: string,
    aggregator: Aggregator,
    labelNames: readonly Label[],
    show: (gauge: Gauge<Label>, reading: Reading) => unknown,
  ): Named {
    // prom-client sets a gauge without labels to 0 when it is made, and by `reset`; only `remove` makes it missing.
    const empty = () => (labelNames.length === 0 ? gauge.remove() : gauge.reset());
    const collect = async () => {
      const reading = await this.scrapes.read();
      empty();
      show(gauge, reading);
    };
    const gauge = new Gauge<Label>({ name, help, aggregator, labelNames, registers: [], collect });
    empty();
    return gauge as unknown as Named;
  }
}

function namesTaken(name: string): InvalidOptionsError {
  return new InvalidOptionsError(
    `ScheduledQueueMetricsModule: registry: got one that has a metric '${name}' from elsewhere, expected one without metrics of that name. Give that metric another name, or this module a registry of its own; or is nestjs-redis-scheduled-queue installed twice?`,
  );
}

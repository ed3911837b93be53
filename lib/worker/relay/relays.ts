import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { RelayRequest } from '../../core/options/relay-options.js';
import { firstFew } from '../../core/read/describe.js';
import { LONGEST_TIMEOUT_MS, type Timers } from '../../core/timers.js';
import type { JobStore } from '../../store/job-store.js';
import { Reporter } from '../session/reporter.js';
import { LAST_TURN_MS } from '../session/turn-plan.js';
import { Relay } from './relay.js';

export interface RelaysOptions {
  workerId: string;
  commandTimeoutMs: number;
  /** What the names of their timers begin with. */
  timerPrefix: string;
}

/** How many names the log line of a relay tells; there may be 1 000. */
const NAMES_TOLD = 5;

/** The relays of this process. */
export class Relays {
  private readonly relays = new Set<Relay>();
  private started = 0;
  private stopped = false;

  constructor(
    private readonly store: JobStore,
    /** Found when first needed: what the application has of timers is only known once it has started. */
    private readonly findTimers: () => Timers,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: RelaysOptions,
  ) {}

  /** Throws `QueueClosedError` after `stop`, and `InvalidOptionsError` where the target cannot be one. */
  start({ queue, names, target, batch }: RelayRequest): { stop(): Promise<void> } {
    if (this.stopped)
      throw new QueueClosedError('relay: the application is closing; nothing more is moved.', { queue });
    const { workerId, commandTimeoutMs, timerPrefix } = this.options;
    const session = this.store.queue(queue).sessions.relay(workerId, names, target);
    const timerName = `${timerPrefix}:${queue}:relay-${++this.started}`;
    const reporter = new Reporter(this.log, this.events, `relay to ${target.type} '${target.key}'`);
    const relay = new Relay(queue, session, batch, this.findTimers(), timerName, reporter);
    this.relays.add(relay);
    relay.start();
    this.log.log(
      `Relays ${names ? firstFew(names, NAMES_TOLD) : 'all jobs'} of queue '${queue}' to the ${target.type} '${target.key}', up to ${batch} at a time.`,
    );
    return {
      stop: async () => {
        await relay.stop(AbortSignal.timeout(Math.min(commandTimeoutMs, LONGEST_TIMEOUT_MS)));
        this.relays.delete(relay);
      },
    };
  }

  /** Stops all, and later ones are refused. Resolves within a second, whatever Redis does. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.relays].map((relay) => relay.stop(AbortSignal.timeout(LAST_TURN_MS))));
    this.relays.clear();
  }
}

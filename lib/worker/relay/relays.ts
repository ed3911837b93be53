import type { Clock } from '../../core/clock.js';
import { QueueClosedError } from '../../core/errors.js';
import type { EventSink } from '../../core/job/events.js';
import type { Log } from '../../core/log.js';
import type { RelayRequest } from '../../core/options/relay-options.js';
import { firstFew } from '../../core/read/describe.js';
import type { JobStore } from '../../store/job-store.js';
import type { Caretakers } from '../recur/caretakers.js';
import { Reporter } from '../report/reporter.js';
import { SessionLoop } from '../session/session-loop.js';
import { LAST_TURN_MS } from '../session/turn-plan.js';
import { TurnsInFlight } from '../session/turns-in-flight.js';
import { Relay } from './relay.js';

export interface RelaysOptions {
  workerId: string;
  commandTimeoutMs: number;
  trackCurrentJob: boolean;
  /** What the names of their timers begin with. */
  timerPrefix: string;
  /** Shared by all that talk with queues in this module instance. */
  caretakers: Caretakers;
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
    private readonly clock: Clock,
    private readonly events: EventSink,
    private readonly log: Log,
    private readonly options: RelaysOptions,
  ) {}

  /** Throws `QueueClosedError` after `stop`, and `InvalidOptionsError` where the target cannot be one. */
  start({ queue, names, target, batch }: RelayRequest): { stop(): Promise<void> } {
    if (this.stopped)
      throw new QueueClosedError('relay: the application is closing; nothing more is moved.', { queue });
    const { workerId, commandTimeoutMs, timerPrefix, caretakers, trackCurrentJob } = this.options;
    const session = this.store.queue(queue).sessions.relay(workerId, names, target);
    const timerName = `${timerPrefix}:${queue}:relay-${++this.started}`;
    const who = `relay to ${target.type} '${target.key}'`;
    const reporter = new Reporter(this.log, this.events, this.clock, { who, trackCurrentJob });
    const loop = new SessionLoop(session, new TurnsInFlight(), reporter, this.clock, { queue, timerName, caretakers });
    const relay = new Relay(loop, batch);
    this.relays.add(relay);
    relay.start();
    this.log.log(
      `Relays ${names ? firstFew(names, NAMES_TOLD) : 'all jobs'} of queue '${queue}' to the ${target.type} '${target.key}', up to ${batch} at a time.`,
    );
    return {
      stop: async () => {
        await relay.stop(commandTimeoutMs);
        this.relays.delete(relay);
      },
    };
  }

  /** Stops all, and later ones are refused. Resolves within a second, whatever Redis does. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.relays].map((relay) => relay.stop(LAST_TURN_MS)));
    this.relays.clear();
  }
}

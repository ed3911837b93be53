import { QueueClosedError } from '../../core/errors.js';
import type { RelayRequest } from '../../core/options/relay-options.js';
import { firstFew } from '../../core/read/describe.js';
import type { InstanceParts } from '../instance-parts.js';
import { Reporter } from '../report/reporter.js';
import { SessionLoop } from '../session/session-loop.js';
import { LAST_TURN_MS } from '../session/turn-plan.js';
import { TurnsInFlight } from '../session/turns-in-flight.js';
import { Relay } from './relay.js';

/** How many names the log line of a relay tells; there may be 1 000. */
const NAMES_TOLD = 5;

/** The relays of this process. */
export class Relays {
  private readonly relays = new Set<Relay>();
  private started = 0;
  private stopped = false;

  constructor(private readonly instance: InstanceParts) {}

  /** Throws `QueueClosedError` after `stop`, and `InvalidOptionsError` where the target cannot be one. */
  start({ queue, names, target, batch }: RelayRequest): { stop(): Promise<void> } {
    if (this.stopped)
      throw new QueueClosedError('relay: the application is closing; nothing more is moved.', { queue });
    const { store, clock, log, events, caretakers, trackCurrentJob, timerPrefix } = this.instance;
    const { workerId, commandTimeoutMs } = this.instance;
    const session = store.queue(queue).sessions.relay(workerId, names, target);
    const timerName = `${timerPrefix}:${queue}:relay-${++this.started}`;
    const who = `relay to ${target.type} '${target.key}'`;
    const reporter = new Reporter(log, events, clock, { who, trackCurrentJob });
    const loop = new SessionLoop(session, new TurnsInFlight(), reporter, clock, { queue, timerName, caretakers });
    const relay = new Relay(loop, batch);
    this.relays.add(relay);
    relay.start();
    log.log(
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

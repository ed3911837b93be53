import type { Cluster } from 'ioredis';
import type { OutageLog } from '../checks/outage-log.js';
import { type ClientError, isPermission } from './call-error.js';
import { type Client, dropConnections } from './client.js';
import { whyLost } from './reachability.js';

/** How often the connection is asked for a sign of life. Until it is replaced jobs are late; one process sends this for all its queues. */
const CHECK_EVERY_MS = 10_000;
/** How long the answer may take. */
const CHECK_PATIENCE_MS = 5_000;
const CLOSED = 'the connection for messages was closed';

export type Hear = (message: string | undefined) => void;

/**
 * Hears the messages that wake workers: one connection for all queues of a process. A message is only ever a hint, so a
 * lost one costs lateness and nothing else; once a channel is heard (again), its owner is told to look (`undefined`).
 */
export class WakeListener {
  private readonly channels = new Map<string, Set<Hear>>();
  private readonly heard = new Set<string>();
  private watchdog?: NodeJS.Timeout;
  private closed = false;

  constructor(
    private readonly client: Client,
    private readonly outages: OutageLog,
    private readonly checkEveryMs = CHECK_EVERY_MS,
    private readonly patienceMs = CHECK_PATIENCE_MS,
  ) {
    let reason = CLOSED;
    client.on('error', (error: ClientError) => {
      reason = whyLost(client, error)?.message ?? reason;
    });
    client.on('message', (channel: string, message: string) => this.say(channel, message));
    client.on('ready', () => {
      // The reason of one outage is none of the next one.
      reason = CLOSED;
      outages.found(this);
      this.subscribe([...this.channels.keys()]);
    });
    client.on('close', () => {
      this.heard.clear();
      if (!this.closed) outages.lost(this, reason);
    });
  }

  /** Whether messages of this channel arrive at present. */
  hears(channel: string): boolean {
    return this.heard.has(channel);
  }

  listen(channel: string, hear: Hear): void {
    const hearers = this.channels.get(channel);
    if (hearers) hearers.add(hear);
    else this.channels.set(channel, new Set([hear]));
    this.watchdog ??= setInterval(() => this.checkLife(), this.checkEveryMs).unref();
    if (this.client.status === 'wait') this.client.connect().catch(() => {});
    else if (this.client.status === 'ready') this.subscribe([channel]);
  }

  unlisten(channel: string, hear: Hear): void {
    const hearers = this.channels.get(channel);
    hearers?.delete(hear);
    if (hearers && hearers.size > 0) return;
    this.channels.delete(channel);
    this.heard.delete(channel);
    if (this.client.status === 'ready') this.client.unsubscribe(channel).catch(() => {});
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.watchdog);
    this.outages.forget(this);
    this.client.disconnect();
  }

  private say(channel: string, message: string | undefined): void {
    for (const hear of this.channels.get(channel) ?? []) hear(message);
  }

  /**
   * By subscribing again to what it hears, which changes nothing and is answered on the very connection that hears:
   * on a cluster, PING would go to any node. A connection that stands but has not become ready (`connect`) waits for an answer already,
   * and ioredis would wait for it without end.
   */
  private checkLife(): void {
    const [channel] = this.channels.keys();
    const { status } = this.client;
    if ((status !== 'ready' && status !== 'connect') || channel === undefined) return;
    const patience = setTimeout(() => this.client.status === status && this.reconnect(), this.patienceMs).unref();
    const answered = () => clearTimeout(patience);
    if (status !== 'ready') return;
    this.client.subscribe(channel).then(() => {
      answered();
      // It was refused before: the permission has been given since.
      if (this.channels.has(channel) && !this.heard.has(channel)) this.subscribe([...this.channels.keys()]);
    }, answered);
  }

  private reconnect(): void {
    if (this.closed) return;
    // The connection of a cluster client that hears is none of its nodes', and comes again with all of it.
    if (this.client.isCluster) (this.client as Cluster).disconnect(true);
    else dropConnections(this.client);
  }

  /** After a gap every session looks for due jobs, because the messages of the gap are lost. */
  private subscribe(channels: string[]): void {
    if (channels.length === 0) return;
    this.client.subscribe(...channels).then(
      () => {
        this.outages.hearing();
        for (const channel of channels) {
          this.heard.add(channel);
          this.say(channel, undefined);
        }
      },
      ({ message }: Error) => {
        if (isPermission(message)) this.outages.deaf(message);
      },
    );
  }
}

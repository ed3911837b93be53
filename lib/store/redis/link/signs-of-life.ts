import type { Socket } from 'node:net';
import type { Cluster, Redis } from 'ioredis';
import type { Client } from './client.js';

/** How often whoever waits looks for signs of life in the time after which a connection counts as dead. */
const LOOKS_A_SILENCE = 4;

/** How long the calls under way should take to go out, and who is told if they took too long. */
export interface Patience {
  readonly expectedMs: number;
  wasTooSlow(silentMs: number): void;
}

/**
 * Measures the silence of a client's connections, for all that wait for an answer over them: calls, and the handshake of a connection that
 * is being made. A single one of these may have little time left, which says nothing about the connection. Signs of life are data that has
 * come, and data that has gone where it had to wait in this process before: then the other side has taken what went before it. What goes at
 * once is none, as the kernel takes it also where nobody is there any more.
 */
export class SignsOfLife {
  /** Whoever waits looks again after so long. */
  readonly lookEveryMs: number;
  private waiting = 0;
  private silentMs = 0;
  /** The latest look or sign of life, a time of `performance.now()`. */
  private lookedAt = performance.now();
  private received = 0;
  private sent = 0;
  private hadToWait = false;
  private made = 0;
  private came = 0;

  constructor(
    private readonly client: Client,
    /** How long the connections may be silent before they count as dead. */
    private readonly silenceMs: number,
    private readonly patience: Patience,
  ) {
    this.lookEveryMs = silenceMs / LOOKS_A_SILENCE;
    // The handshake waits from now on.
    client.on('connect', () => this.beginAnew());
  }

  /** Another number for each connection: an answer that was waited for under an earlier one does not come any more. */
  get connection(): number {
    return this.made;
  }

  /** Grows whenever it is noticed that data has come. */
  get arrivals(): number {
    return this.came;
  }

  /** A call waits from now on. */
  begin(): void {
    if (this.waiting++ === 0) this.hear();
  }

  /** An answer came. If other calls still wait, their silence begins now. */
  answered(): void {
    this.came++;
    if (this.waiting > 1) this.hear();
  }

  end(): void {
    this.waiting--;
  }

  /** Looks for signs of life. True if there was none for so long that the connections are to be given up: the silence of new ones begins. */
  isDead(): boolean {
    this.look();
    const { expectedMs } = this.patience;
    // While the kernel sends the rest of large calls there is no sign of life: they get more time.
    if (this.silentMs < Math.min(Math.max(this.silenceMs, 2 * expectedMs), 2 * this.silenceMs)) return false;
    this.patience.wasTooSlow(this.silentMs);
    this.beginAnew();
    return true;
  }

  /** Answers a function that tells later whether the connections of this moment still stand. */
  whetherItStands(): () => boolean {
    const { client } = this;
    if (!client.isCluster) {
      const { stream } = client as unknown as { stream?: Socket };
      return () => (client as unknown as { stream?: Socket }).stream === stream && stream?.destroyed === false;
    }
    const streams = streamsOf(client);
    return () => {
      const standing = streamsOf(this.client);
      return streams.every((stream) => standing.includes(stream) && !stream.destroyed);
    };
  }

  private look(): void {
    const now = performance.now();
    const sinceMs = now - this.lookedAt;
    const { sent, queued } = sentBytes(this.client);
    const hasCome = receivedBytes(this.client) !== this.received;
    if (hasCome) this.came++;
    if (hasCome || (this.hadToWait && sent !== this.sent)) this.hear();
    // A process that was held up has not seen what came meanwhile: it sees that before the next look.
    else this.silentMs += Math.min(sinceMs, 2 * this.lookEveryMs);
    this.lookedAt = now;
    this.sent = sent;
    this.hadToWait = queued > 0;
  }

  private hear(): void {
    this.silentMs = 0;
    this.lookedAt = performance.now();
    this.received = receivedBytes(this.client);
    this.hadToWait = false;
  }

  private beginAnew(): void {
    this.made++;
    this.hear();
  }
}

/** The connections that a client has at present: those to all nodes of a cluster. */
function streamsOf(client: Client): Socket[] {
  const nodes = client.isCluster ? (client as Cluster).nodes('all') : [client as Redis];
  return nodes.map((node) => (node as unknown as { stream?: Socket }).stream).filter((stream) => stream !== undefined);
}

export function receivedBytes(client: Client): number {
  if (!client.isCluster) return (client as unknown as { stream?: Socket }).stream?.bytesRead ?? 0;
  let bytes = 0;
  for (const { bytesRead } of streamsOf(client)) bytes += bytesRead;
  return bytes;
}

/** How many bytes the kernel has accepted for sending, and how many of those that it was given it has not accepted yet. */
function sentBytes(client: Client): { sent: number; queued: number } {
  let sent = 0;
  let queued = 0;
  for (const stream of streamsOf(client)) {
    const waiting = queuedBytes(stream);
    sent += givenBytes(stream) - waiting;
    queued += waiting;
  }
  return { sent, queued };
}

/** Node counts as written what waits in this process for an earlier message to be sent; the kernel was not given that yet. */
function givenBytes(stream: Socket): number {
  return (stream as unknown as { _bytesDispatched?: number })._bytesDispatched ?? stream.bytesWritten ?? 0;
}

/** Node counts a large message as sent only once all of it has gone. The queue size that it keeps for its own timeouts shrinks with each part. */
function queuedBytes(stream: Socket): number {
  const queued = (stream as unknown as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize;
  return queued ?? stream.writableLength ?? 0;
}

import type { Socket } from 'node:net';
import type { Cluster, Redis } from 'ioredis';
import type { Client } from './client.js';

/**
 * Tells for how long a client's connections have been silent although calls wait: no answer came, and not one byte came or went. All
 * calls share one silence, because a single call that has little time left says nothing about the connection.
 */
export class SignsOfLife {
  private waiting = 0;
  /** Since when nothing has been heard, a time of `performance.now()`; undefined where no call waits. */
  private silentSince?: number;
  /** Taken at the first check after the call was sent, so that a call which is answered sooner costs no check. */
  private moved?: number;

  constructor(private readonly client: Client) {}

  /** A call waits from now on. */
  begin(): void {
    this.waiting++;
    if (this.silentSince === undefined) this.hear();
  }

  /** An answer came. If other calls still wait, their silence begins now. */
  heard(): void {
    if (this.waiting > 1) this.hear();
    else this.silentSince = undefined;
  }

  end(): void {
    this.waiting--;
  }

  /** For how many ms the connections have been silent by now. */
  silentMs(): number {
    const moved = movedBytes(this.client);
    // At the first look the call itself has just been sent, which is a sign of life.
    if (this.silentSince === undefined || moved !== this.moved) this.hear();
    this.moved = moved;
    return performance.now() - this.silentSince!;
  }

  /** The connections were given up: from now on the silence is that of new ones. */
  renew(): void {
    this.silentSince = undefined;
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

  private hear(): void {
    this.silentSince = performance.now();
    this.moved = undefined;
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

/** How many bytes have arrived, and how many the kernel has accepted for sending. */
function movedBytes(client: Client): number {
  let bytes = 0;
  for (const stream of streamsOf(client))
    bytes += (stream.bytesRead ?? 0) + (stream.bytesWritten ?? 0) - queuedBytes(stream);
  return bytes;
}

/** Node counts a large message as sent only once all of it has gone. The queue size that it keeps for its own timeouts shrinks with each part. */
function queuedBytes(stream: Socket): number {
  const queued = (stream as unknown as { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize;
  return queued ?? stream.writableLength ?? 0;
}

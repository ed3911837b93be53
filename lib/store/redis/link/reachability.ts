import type { Cluster } from 'ioredis';
import type { OutageLog } from '../checks/outage-log.js';
import { addressOf, secretsOf } from './address.js';
import { type ClientError, type Reason, reasonOf, withoutSecretsOf } from './call-error.js';
import type { Client } from './client.js';

/** Why a connection of this client was refused or lost, and at which address. */
export function whyLost(client: Client, error: ClientError): Reason | undefined {
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  const message = `${withoutSecretsOf(reason.message, secretsOf(client))}, at ${addressOf(client)}`;
  return { ...reason, message: handshakeFailed(client, reason) ? `${message}; does this port speak TLS?` : message };
}

/** A server without TLS waits for more of the first message of TLS until the time is over, or refuses it. */
function handshakeFailed(client: Client, { message, code = '' }: Reason): boolean {
  const { tls } = client.options as { tls?: unknown };
  return Boolean(tls) && /^(ETIMEDOUT|ECONNRESET|EPROTO|ERR_SSL_.*)$|secure TLS/.test(`${code || message}`);
}

/** Whether Redis can be used over one connection: knows why it cannot, and tells the log when that begins and ends. */
export class Reachability {
  /** The server answers and takes no writes, as one that a failover has made a replica: as good as away. */
  private demoted = false;
  private closed = false;
  private isRenewing = false;
  private last?: Reason;

  constructor(
    private readonly client: Client,
    private readonly outages: OutageLog,
    /** Called with the address each time that the connection can be used again, the first time included. */
    private readonly reached: (address: string) => void,
  ) {
    client.on('error', (error: ClientError) => {
      this.last = whyLost(client, error) ?? this.last;
      if (client.status !== 'ready') this.lost();
    });
    client.on('close', () => {
      if (!this.isRenewing) this.lost();
      this.isRenewing = false;
    });
  }

  /** Why Redis cannot be reached; `undefined` where it can, or where nothing was heard of it. */
  get trouble(): Reason | undefined {
    return this.client.status === 'ready' ? undefined : this.last;
  }

  get isDemoted(): boolean {
    return this.demoted;
  }

  /** Notes an outage. The default reason is the last error that the client has reported. */
  lost(reason = this.last ?? { message: `the connection was closed, at ${addressOf(this.client)}` }): void {
    if (this.closed) return;
    this.last = reason;
    this.outages.lost(this, reason.message);
  }

  /** On a cluster the others go on, and the client is told where the slot is now. */
  wasDemoted(message: string): void {
    if (this.client.isCluster || this.closed) return;
    this.demoted = true;
    this.lost({ message });
  }

  /** A connection to a replica is made again and again until it is a primary; it is back when it is one, or does not say. */
  found(): void {
    if (!this.demoted) {
      this.stands();
      return;
    }
    const back = (info = '') => {
      if (this.client.status !== 'ready' || /^role:slave/m.test(info)) return;
      this.demoted = false;
      this.stands();
    };
    this.client.info('replication').then(back, () => back());
  }

  /** Closes the connection for another one, which is no outage where that one can be made. On a cluster asks for the slots. */
  renew(): void {
    if (this.client.isCluster) {
      (this.client as Cluster).refreshSlotsCache();
      return;
    }
    this.isRenewing = true;
    this.client.disconnect(true);
  }

  /** A connection that is closed on purpose is not lost. */
  close(): void {
    this.closed = true;
    this.outages.forget(this);
  }

  private stands(): void {
    this.last = undefined;
    this.outages.found(this);
    this.reached(addressOf(this.client));
  }
}

import type { Log } from '../../../core/log.js';
import type { Client } from '../link/client.js';
import { evictionPolicy, oldVersion, untestedServer } from './server-info.js';

/**
 * Looks once, when a store first has a connection, whether this Redis can be trusted with jobs, and warns where it cannot.
 * Nothing waits for it, and where Redis does not say (a managed one may forbid INFO) it is silent.
 */
export class Preflight {
  private state: 'to do' | 'asking' | 'done' = 'to do';

  constructor(private readonly log: Log) {}

  watch(client: Client): void {
    client.on('ready', () => void this.look(client));
  }

  private async look(client: Client): Promise<void> {
    if (this.state !== 'to do') return;
    this.state = 'asking';
    try {
      // On a cluster any node answers; they should be alike.
      const info = await client.info();
      this.state = 'done';
      for (const trouble of [oldVersion(info), untestedServer(info), evictionPolicy(info)])
        if (trouble !== undefined) this.log.warn(trouble);
    } catch {
      // Where the connection has gone, the next one asks again; a refusal would be the same then.
      this.state = client.status === 'ready' ? 'done' : 'to do';
    }
  }
}

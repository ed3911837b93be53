import { Redis } from 'ioredis';

/** How many commands a server has been sent since it started, those inside scripts not counted. */
export class CommandCount {
  private readonly client: Redis;

  constructor(url: string) {
    this.client = new Redis(url);
  }

  /** Calls of the commands that workers send. */
  async sent(): Promise<number> {
    const info = await this.client.info('commandstats');
    const calls = [...info.matchAll(/^cmdstat_(evalsha|eval|ping|subscribe|ssubscribe):calls=(\d+)/gm)];
    return calls.reduce((sum, [, , count]) => sum + Number(count), 0);
  }

  close(): void {
    this.client.disconnect();
  }
}

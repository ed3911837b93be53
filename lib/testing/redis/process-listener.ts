import type { MessageLink } from '../../store/redis/link/redis-link.js';
import type { Hear } from '../../store/redis/link/wake-listener.js';
import { toBytes, toText } from './bytes.js';
import type { SmallRedis } from './small-redis.js';

/** Hears the messages of a Redis in this process. */
export class ProcessListener implements MessageLink {
  private readonly receivers = new Map<Hear, (message: string) => void>();
  private readonly heard = new Map<string, number>();

  constructor(private readonly redis: SmallRedis) {}

  hears(channel: string): boolean {
    return this.heard.has(channel);
  }

  /** As with a server, whoever listens is told to look once it hears. */
  listen(channel: string, hear: Hear): void {
    const receiver = this.receivers.get(hear) ?? ((message) => hear(toText(message)));
    this.receivers.set(hear, receiver);
    this.redis.subscribe(toBytes(channel), receiver);
    void Promise.resolve().then(() => {
      this.heard.set(channel, (this.heard.get(channel) ?? 0) + 1);
      hear(undefined);
    });
  }

  unlisten(channel: string, hear: Hear): void {
    const receiver = this.receivers.get(hear);
    if (receiver) this.redis.unsubscribe(toBytes(channel), receiver);
    const left = (this.heard.get(channel) ?? 0) - 1;
    if (left > 0) this.heard.set(channel, left);
    else this.heard.delete(channel);
  }
}

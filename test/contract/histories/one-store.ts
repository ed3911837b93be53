import type { QueueStore } from '../../../lib/store/job-store.js';
import type { World } from '../world.js';
import { TwoStores } from './two-stores.js';

/** A store by itself, for histories whose answers depend on when messages arrive: asked are only calls to succeed, and indexes to be true. */
export class OneStore extends TwoStores {
  constructor(private readonly world: World) {
    super(world, world);
  }

  override both<G, T>(given: G, ask: (queue: QueueStore, given: G, index: 0 | 1) => Promise<T>): Promise<T> {
    return ask(this.world.whole.queue('default'), given, 1);
  }
}

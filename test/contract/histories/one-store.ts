import type { QueueStore } from '../../../lib/store/job-store.js';
import type { World } from '../world.js';
import { createdAmong, MadeIds } from './made-ids.js';
import { TwoStores } from './two-stores.js';

/** A store by itself, for histories whose answers depend on when messages arrive: asked are only calls to succeed, and indexes to be true. */
export class OneStore extends TwoStores {
  private readonly created = new MadeIds();
  private count = 0;

  constructor(private readonly world: World) {
    super(world, world);
  }

  override async both<G, T>(given: G, ask: (queue: QueueStore, given: G, index: 0 | 1) => Promise<T>): Promise<T> {
    const answer = await ask(this.world.whole.queue('default'), given, 1);
    for (const { id } of createdAmong(answer)) this.created.note(id, `#${++this.count}`);
    const told = this.created.toLabels(answer);
    this.log.note(this.now(), ask.toString(), this.created.toLabels(given), [told, told]);
    return answer;
  }
}

import { expect } from '@jest/globals';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import type { QueueStore } from '../../../lib/store/job-store.js';
import type { World } from '../world.js';
import { HistoryLog } from './history-log.js';
import { createdAmong, MadeIds } from './made-ids.js';

/** The store over the small Redis and over a real one, at the same instants of one clock. Whatever is asked is asked of both. */
export class TwoStores {
  readonly log = new HistoryLog();
  private readonly made = [new MadeIds(), new MadeIds()] as const;
  private labels = 0;

  constructor(
    private readonly small: World,
    /** Moves the clock of both. */
    private readonly redis: World,
  ) {}

  open(options: QueueOptions): void {
    this.small.store(options);
    this.redis.store(options);
  }

  get worlds(): readonly [World, World] {
    return [this.small, this.redis];
  }

  pass(ms: number): void {
    this.redis.pass(ms);
  }

  now(): number {
    return this.redis.now();
  }

  /** Asks both, with each store's ids in `given`, and answers what both have answered. */
  async both<G, T>(
    given: G,
    ask: (queue: QueueStore, given: G, index: 0 | 1) => Promise<T>,
    compare: (small: T, redis: T) => unknown = (small, redis) => expect(small).toEqual(redis),
  ): Promise<T> {
    const answers = await Promise.all(
      this.worlds.map((world, i) => {
        const index = i as 0 | 1;
        return ask(world.whole.queue('default'), this.made[index].toIds(given), index);
      }),
    );
    this.noteMade(answers);
    const [small, redis] = answers.map((answer, i) => this.made[i as 0 | 1].toLabels(answer));
    this.log.note(this.now(), ask.toString(), given, [small, redis]);
    await compare(small!, redis!);
    return redis!;
  }

  /** Whole states, and the indexes of the real one beside. */
  async compareAll(): Promise<void> {
    const states = ['due', 'scheduled', 'active', 'dead', 'completed'] as const;
    await this.both(undefined, async ({ view }) => ({
      counts: await view.counts(),
      priorities: await view.countsByPriority(),
      nextDue: await view.nextDue(),
      stats: await view.stats(),
      limits: await view.limits(),
      groups: await view.groups(1_000),
      pausedUntil: await view.pausedUntil(),
      blackouts: await view.blackouts(),
      workers: await view.workers(),
      jobs: await Promise.all(states.map((state) => view.list(state, 0, 10_000))),
    }));
    for (const world of this.worlds) expect(await world.audit()).toEqual([]);
  }

  /** Made ids are those that a schedule answers without having been given one; both stores answer them at the same index. */
  private noteMade([small, redis]: readonly unknown[]): void {
    const inRedis = new Map(createdAmong(redis).map(({ id, index }) => [index, id]));
    for (const { id, index } of createdAmong(small)) {
      const other = inRedis.get(index);
      if (other === undefined || other === id) continue;
      const label = `#${++this.labels}`;
      this.made[0].note(id, label);
      this.made[1].note(other, label);
    }
  }
}

import { expect } from '@jest/globals';
import type { QueueOptions } from '../../../lib/core/options/queue-options.js';
import type { QueueStore } from '../../../lib/store/job-store.js';
import type { World } from '../world.js';

/** Ids that a store makes: each store makes others, in the same order. */
class MadeIds {
  private readonly labels = new Map<string, string>();
  private readonly ids = new Map<string, string>();

  note(id: string, label: string): void {
    this.labels.set(id, label);
    this.ids.set(label, id);
  }

  /** The same with a label in the place of each made id. */
  toLabels<T>(value: T): T {
    return this.map(value, (text) => this.labels.get(text) ?? text);
  }

  toIds<T>(value: T): T {
    return this.map(value, (text) => this.ids.get(text) ?? text);
  }

  private map<T>(value: T, translate: (text: string) => string): T {
    if (typeof value === 'string') return translate(value) as T;
    if (Array.isArray(value)) return value.map((item) => this.map(item, translate)) as T;
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.map(item, translate)])) as T;
  }
}

/** The specification and the store that is held against it, at the same instants of one clock. Whatever is asked is asked of both. */
export class TwoStores {
  private readonly made = [new MadeIds(), new MadeIds()] as const;
  private labels = 0;

  constructor(
    private readonly memory: World,
    /** Moves the clock of both. */
    private readonly redis: World,
  ) {}

  open(options: QueueOptions): void {
    this.memory.store(options);
    this.redis.store(options);
  }

  get worlds(): readonly [World, World] {
    return [this.memory, this.redis];
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
    compare: (redis: T, memory: T) => unknown = (redis, memory) => expect(redis).toEqual(memory),
  ): Promise<T> {
    const answers = await Promise.all(
      this.worlds.map((world, i) => {
        const index = i as 0 | 1;
        return ask(world.whole.queue('default'), this.made[index].toIds(given), index);
      }),
    );
    this.noteMade(answers);
    const [memory, redis] = answers.map((answer, i) => this.made[i as 0 | 1].toLabels(answer));
    await compare(redis!, memory!);
    return memory!;
  }

  /** Whole states, and Redis' indexes beside. */
  async compareAll(): Promise<void> {
    const states = ['due', 'scheduled', 'active', 'dead', 'completed'] as const;
    await this.both(undefined, async ({ view }) => ({
      counts: await view.counts(),
      priorities: await view.countsByPriority(),
      nextDue: await view.nextDue(),
      stats: await view.stats(),
      limits: await view.limits(),
      pausedUntil: await view.pausedUntil(),
      blackouts: await view.blackouts(),
      workers: await view.workers(),
      jobs: await Promise.all(states.map((state) => view.list(state, 0, 10_000))),
    }));
    for (const world of this.worlds) expect(await world.audit()).toEqual([]);
  }

  /** Made ids are those that a schedule answers without having been given one; both stores answer them at the same index. */
  private noteMade(answers: readonly unknown[]): void {
    const [memory, redis] = answers.map((answer) => (Array.isArray(answer) ? answer : [answer]));
    for (const [i, answer] of (memory ?? []).entries()) {
      const [first, second] = [answer, redis?.[i]] as { id?: string; status?: string }[];
      if (first?.status !== 'created' || second?.status !== 'created' || first.id === second.id) continue;
      const label = `#${++this.labels}`;
      this.made[0].note(first.id!, label);
      this.made[1].note(second.id!, label);
    }
  }
}

import type { GroupSettings, GroupsOptions } from '../../../lib/core/options/group-options.js';
import type { TwoStores } from './two-stores.js';

const GROUPS = ['a', 'b', 'c:1', 'd;'];
const WEIGHTS = [0.3, 1, 1, 2, 7];

/** What holds for each group, of all kinds. */
export function randomGroupsOptions(random: () => number): GroupsOptions | undefined {
  const die = random();
  const rateLimit = random() < 0.3 ? { rateLimit: randomRate(random) } : {};
  if (die < 0.3) return random() < 0.5 ? undefined : rateLimit;
  if (die < 0.65) return { concurrency: 1 + Math.floor(random() * 3), ...rateLimit };
  return { order: 'fifo', ...rateLimit };
}

const randomRate = (random: () => number) => ({
  max: 1 + Math.floor(random() * 4),
  perMs: 200 + Math.floor(random() * 1_000),
});

/** What is done to groups, and asked of them, in a random history. */
export class GroupSteps {
  /** How many of the jobs are of a group. */
  private readonly share: number;

  constructor(
    private readonly stores: TwoStores,
    private readonly random: () => number,
  ) {
    this.share = this.pick([0, 0.4, 0.8, 1]);
  }

  /** For a new job. */
  ofJob(): { group?: string } {
    return this.random() < this.share ? { group: this.pick(GROUPS) } : {};
  }

  async manage(): Promise<void> {
    const group = this.pick(GROUPS);
    const die = this.random();
    if (die < 0.4) {
      const given = { group, settings: this.settings() };
      await this.stores.both(given, ({ management }, { group, settings }) => management.setGroup(group, settings));
    } else if (die < 0.7) {
      const given = { group, forMs: this.random() < 0.8 ? Math.floor(this.random() * 3_000) : undefined };
      await this.stores.both(given, ({ management }, { group, forMs }) => management.pauseGroup(group, forMs));
    } else await this.stores.both(group, ({ management }, given) => management.resumeGroup(given));
  }

  async view(): Promise<void> {
    const die = this.random();
    if (die < 0.4) await this.stores.both(this.pick(GROUPS), ({ view }, given) => view.group(given));
    else if (die < 0.7)
      await this.stores.both(1 + Math.floor(this.random() * 5), ({ view }, given) => view.groups(given));
    else await this.stores.both(undefined, ({ view }) => Promise.all([view.heldDue(), view.nextFree()]));
  }

  private settings(): GroupSettings {
    const maybe = <T>(value: T) => (this.random() < 0.4 ? value : undefined);
    const { random } = this;
    const said = {
      weight: maybe(this.pick(WEIGHTS)),
      concurrency: maybe(random() < 0.3 ? ('unlimited' as const) : 1 + Math.floor(random() * 4)),
      rateLimit: maybe(random() < 0.3 ? ('unlimited' as const) : randomRate(random)),
    };
    return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }
}

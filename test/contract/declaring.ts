import type { Declaration, DeclareAnswer, Declarer } from '../../lib/store/job-store.js';
import type { World } from './world.js';

export const ORPHAN_AFTER_MS = 60_000;

/** A process that declares: it knows when it started once it has been told. */
export class Declaring {
  private startedAtMs?: number;

  constructor(
    private readonly world: World,
    private readonly by: Partial<Declarer> = {},
  ) {}

  declare(...declarations: Declaration[]): Promise<DeclareAnswer> {
    return this.send(declarations);
  }

  /** As a process does that deletes orphans. */
  declareAndRemove(...declarations: Declaration[]): Promise<DeclareAnswer> {
    return this.send(declarations, true);
  }

  private async send(declarations: readonly Declaration[], removesOrphans?: boolean): Promise<DeclareAnswer> {
    const answer = await this.world.whole
      .queue('default')
      .declarations.declare(
        declarations,
        { app: 'shop', ...this.by, ...(this.startedAtMs !== undefined && { startedAtMs: this.startedAtMs }) },
        ORPHAN_AFTER_MS,
        removesOrphans,
      );
    this.startedAtMs = answer.startedAtMs;
    return answer;
  }

  /** What became of one declaration. */
  async status(declaration: Declaration): Promise<string | undefined> {
    return (await this.declare(declaration)).statuses[0];
  }
}

/** Lets time pass while some process of each app is there, and declares nothing. */
export async function passAlive(world: World, ms: number, apps = ['shop', 'stock']): Promise<void> {
  for (let left = ms; left > 0; left -= ORPHAN_AFTER_MS / 4) {
    for (const app of apps) await new Declaring(world, { app }).declare();
    world.pass(Math.min(left, ORPHAN_AFTER_MS / 4));
  }
}

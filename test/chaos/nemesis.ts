import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault-plan.js';
import { type History, monotonicMs } from './history.js';
import type { Member } from './member.js';
import type { RedisUnderTest } from './redis-under-test.js';

type Deed = (lastsMs: number) => Promise<void>;

/** Does to processes, connections and Redis what the plan says, and notes from when to when it did. */
export class Nemesis {
  constructor(
    private readonly members: readonly Member[],
    private readonly redis: RedisUnderTest,
    private readonly history: History,
  ) {}

  /** Resolves when the last fault is over and its target stands again. */
  async carryOut(plan: readonly Fault[], say: (line: string) => void): Promise<void> {
    const begin = monotonicMs();
    await Promise.all(
      plan.map(async (step) => {
        await sleep(Math.max(0, begin + step.atMs - monotonicMs()));
        await this.inflict(step, say);
      }),
    );
  }

  private async inflict({ fault, target, lastsMs }: Fault, say: (line: string) => void): Promise<void> {
    const member = this.members.find(({ name }) => name === target);
    const deeds: Record<string, Deed> = member ? this.deedsTo(member) : this.deedsToRedis();
    const from = monotonicMs();
    // The process that it happens to, rather than its successor after a restart.
    const victim = member?.who ?? target;
    let done = true;
    try {
      await deeds[fault]!(lastsMs);
    } catch (error) {
      done = false;
      say(`${fault} ${victim}: ${(error as Error).message}`);
    }
    this.history.note({ type: 'fault', fault, target: victim, from, done });
  }

  private deedsTo(member: Member): Record<string, Deed> {
    const proxy = member.proxy!;
    const frozen: Deed = async (lastsMs) => {
      member.freeze();
      await sleep(lastsMs);
      member.thaw();
    };
    const refused: Deed = async (lastsMs) => {
      proxy.refuse();
      await sleep(lastsMs);
      proxy.accept();
    };
    return {
      kill: async (lastsMs) => {
        await member.kill();
        await sleep(lastsMs);
        await member.start();
      },
      terminate: async (lastsMs) => {
        const { who } = member;
        const tookMs = await member.terminate();
        this.history.note({ type: 'left', tookMs }, who);
        await sleep(lastsMs);
        await member.start();
      },
      freezeBriefly: frozen,
      freezeLong: frozen,
      cut: async () => proxy.cut(),
      /** The next script runs, and nobody hears of it. */
      loseReply: async (lastsMs) => {
        const lost = proxy.cutOnce((request) => request.toLowerCase().includes('eval'));
        await Promise.race([lost, sleep(lastsMs)]);
        void proxy.cutOnce(() => false);
      },
      blackhole: async () => proxy.blackhole(),
      refuse: refused,
      refuseLong: refused,
    };
  }

  private deedsToRedis(): Record<string, Deed> {
    const { server } = this.redis;
    const answering = () => this.redis.answering();
    return {
      kill: async (lastsMs) => {
        await server.kill();
        await sleep(lastsMs);
        await server.restart();
      },
      freeze: async (lastsMs) => {
        server.process.kill('SIGSTOP');
        await sleep(lastsMs);
        server.process.kill('SIGCONT');
      },
      flushScripts: async () => void (await (await answering()).script('FLUSH')),
      cutNormal: async () => void (await (await answering()).call('CLIENT', 'KILL', 'TYPE', 'normal')),
      cutPubsub: async () => void (await (await answering()).call('CLIENT', 'KILL', 'TYPE', 'pubsub')),
      audit: async () => {
        await answering();
        await this.redis.audit();
      },
    };
  }
}

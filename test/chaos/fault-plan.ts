import { Dice } from './dice.js';
import { LEASE_MS, PRODUCERS, WORKERS } from './settings.js';

/** What can go wrong, by what it happens to, with how long it lasts in ms. What a fault does stands in nemesis.ts. */
const FAULTS = {
  worker: {
    kill: [100, 1_000],
    terminate: [100, 1_000],
    freezeBriefly: [100, LEASE_MS / 3],
    freezeLong: [LEASE_MS * 1.1, LEASE_MS * 2],
    cut: [0, 0],
    loseReply: [300, 600],
    blackhole: [0, 0],
    refuse: [200, LEASE_MS * 1.5],
    /** Longer than a worker tries one call: it must begin anew. */
    refuseLong: [5_500, 6_500],
  },
  producer: {
    kill: [100, 500],
    cut: [0, 0],
    loseReply: [300, 600],
    blackhole: [0, 0],
    refuse: [200, 3_000],
  },
  redis: {
    kill: [50, 1_500],
    freeze: [100, LEASE_MS],
    flushScripts: [0, 0],
    cutNormal: [0, 0],
    cutPubsub: [0, 0],
    /** No fault: a look at whether every job is in exactly one state, in the middle of it all. */
    audit: [0, 0],
  },
} as const;

export type FaultClass = keyof typeof FAULTS;
export interface Fault {
  /** After the beginning, ms. */
  atMs: number;
  class: FaultClass;
  fault: string;
  target: string;
  lastsMs: number;
}

const TARGETS: Record<FaultClass, readonly string[]> = { worker: WORKERS, producer: PRODUCERS, redis: ['redis'] };
/** How long a process that was started again is spared, so that it comes to do something. */
const SPARED_MS = { worker: 1_500, producer: 1_000, redis: 300 };
const MEAN_GAP_MS = 500;
/** How often a killed thing lies down is in the deck, since those faults find the most. */
const COPIES: Record<string, number> = { kill: 2, freezeLong: 2, loseReply: 2, audit: 2 };

/**
 * All faults of a run. They are dealt from a shuffled deck that holds each kind, again and again, so that a short run too
 * sees every kind; a target has one fault at a time, different targets have theirs at once.
 */
export function planFaults(seed: number, seconds: number): Fault[] {
  const dice = new Dice(seed, 'faults');
  const freeAt = new Map<string, number>();
  const plan: Fault[] = [];
  for (let nowMs = 500; ; ) {
    for (const { class: kind, fault, lasts } of dice.shuffled(deck())) {
      nowMs += dice.gapMs(MEAN_GAP_MS);
      const lastsMs = dice.between(...lasts);
      // The target that is free first, so that one which is down is not waited for.
      const targets = dice.shuffled(TARGETS[kind]).sort((a, b) => (freeAt.get(a) ?? 0) - (freeAt.get(b) ?? 0));
      const free = targets.filter((name) => (freeAt.get(name) ?? 0) <= nowMs);
      const target = free.length > 0 ? dice.pick(free) : targets[0]!;
      const atMs = Math.max(nowMs, freeAt.get(target) ?? 0);
      if (nowMs > seconds * 1_000)
        return plan.filter((step) => step.atMs + step.lastsMs <= seconds * 1_000).sort((a, b) => a.atMs - b.atMs);
      freeAt.set(target, atMs + lastsMs + SPARED_MS[kind]);
      plan.push({ atMs, class: kind, fault, target, lastsMs });
    }
  }
}

function deck() {
  return (Object.keys(FAULTS) as FaultClass[]).flatMap((kind) =>
    Object.entries(FAULTS[kind]).flatMap(([fault, [from, to]]) => {
      const card = { class: kind, fault, lasts: [Math.round(from), Math.round(to)] as [number, number] };
      return Array.from({ length: COPIES[fault] ?? 1 }, () => card);
    }),
  );
}

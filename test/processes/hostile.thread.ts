import { setTimeout as sleep } from 'node:timers/promises';

/** What a task does to its thread: by the `step` of its photo. */
export const EXITS = 101;
export const EATS_MEMORY = 102;
export const REJECTS_UNHEARD = 103;
/** Harmless: answers one byte, 1 if `require` loads ES modules there. */
export const ASKS_OF_REQUIRE = 104;
/** Computes for so many ms. */
export const AT_LEAST_MS = 1_000;

/** In the place of the thread of docs/recipes.md. */
export default async function doHarm({ pixels, step }: { pixels: ArrayBuffer; step: number }): Promise<ArrayBuffer> {
  if (step === EXITS) process.exit(7);
  if (step === EATS_MEMORY) eatMemory();
  if (step === REJECTS_UNHEARD) void Promise.reject(new Error('nobody hears it'));
  if (step === ASKS_OF_REQUIRE) return Uint8Array.of(requiresEsModules() ? 1 : 0).buffer;
  if (step >= AT_LEAST_MS) compute(step);
  await sleep(0);
  return pixels;
}

/** In pieces that Node can stop between: one that went far beyond the limit would end the whole process. */
function eatMemory(): void {
  for (const eaten: unknown[] = []; ; ) eaten.push(new Array(100_000).fill(eaten.length));
}

/** Every Node that is supported does so by default. */
function requiresEsModules(): boolean {
  return (process.features as { require_module?: boolean }).require_module === true;
}

function compute(ms: number): void {
  for (const from = performance.now(); performance.now() < from + ms; );
}

import type { QueueSettings } from '../../core/options/queue-options.js';
import { toKeptJson } from './kept-json.js';

/** How results become text, where a queue keeps completed jobs. A result is a courtesy: one that cannot be kept does not fail a job that has done its work. */
export interface KeptResults {
  /** `text` is '' where there is none; `problem` says why none is kept, and nothing of what the result says. */
  read(result: unknown): { text: string; problem?: string };
}

/** `undefined` where the queue keeps no completed jobs, so that nothing need be made of their results. */
export function keptResults({ keepCompleted }: QueueSettings, maxBytes: number): KeptResults | undefined {
  return keepCompleted.count > 0 ? { read: (result) => readResult(result, maxBytes) } : undefined;
}

function readResult(result: unknown, maxBytes: number): { text: string; problem?: string } {
  if (result === undefined) return { text: '' };
  const { text = '', problem } = toKeptJson(result, maxBytes, `maxPayloadBytes is ${maxBytes}`);
  return problem === undefined ? { text } : { text, problem };
}

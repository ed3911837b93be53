import type { QueueSettings } from '../../core/options/queue-options.js';
import { bytesBeyond } from '../../core/payload/payload.js';
import { describe } from '../../core/read/describe.js';
import { oneLine } from '../../core/read/one-line.js';

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

const MESSAGE_CHARACTERS = 200;

/** `problem` says why there is no text, and nothing of what the value says. */
export type KeptJson = { text: string; problem?: undefined } | { text?: undefined; problem: string };

/** Makes JSON of what a handler has given, to be kept with its job. `limit` says in words whose limit `maxBytes` is. Never throws. */
export function toKeptJson(value: unknown, maxBytes: number, limit: string): KeptJson {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return { problem: `JSON cannot hold it (${firstLine(error)})` };
  }
  if (text === undefined) return { problem: `JSON cannot hold ${describe(value)}` };
  const bytes = bytesBeyond(text, maxBytes);
  if (bytes !== undefined) return { problem: `it has ${bytes} bytes, and ${limit}` };
  return { text };
}

/** That of a circle tells on further lines where it closes, by the names of properties. Anything may be thrown by a `toJSON`. */
function firstLine(error: unknown): string {
  try {
    const message = String(error instanceof Error ? error.message : describe(error));
    return oneLine(message.split('\n')[0]!.slice(0, MESSAGE_CHARACTERS));
  } catch {
    return 'its toJSON threw';
  }
}

import { createHash } from 'node:crypto';
import type { SharedOptions } from '../../../core/options/shared-options.js';

/**
 * The options that a session lists. They lie in `options:<digest>`, and the session has the digest among its traits: each turn that looks
 * for preferred workers reads `workers` whole, which for 200 workers took half as long again with the options inside.
 */
export interface ListedOptions {
  /** Of the text. */
  readonly digest: string;
  /** JSON. */
  readonly text: string;
}

export function listOptions(options: SharedOptions): ListedOptions {
  const text = JSON.stringify(options);
  return { digest: createHash('sha1').update(text).digest('hex').slice(0, 12), text };
}

/** Options that only a later version knows stay as they are. None where they are not there, or somebody has damaged them. */
export function decodeOptions(text: string | null): SharedOptions {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
}

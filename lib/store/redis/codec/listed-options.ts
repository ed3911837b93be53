import { createHash } from 'node:crypto';
import type { SharedOptions } from '../../../core/options/shared-options.js';

/**
 * The options that a session lists. They lie in `options:<digest>`, and the session has the digest among its traits: each turn that looks
 * for preferred workers reads `workers` whole, which for 200 workers took half as long again with the options inside.
 */
export interface ListedOptions {
  /** The first 12 hex digits of the SHA-1 of `text`. */
  readonly digest: string;
  /** The options as JSON. */
  readonly text: string;
}

export function listOptions(options: SharedOptions): ListedOptions {
  const text = JSON.stringify(options);
  return { digest: createHash('sha1').update(text).digest('hex').slice(0, 12), text };
}

/** Options that only a later version knows are kept. Answers `{}` if the key is missing, or its text is damaged. */
export function decodeOptions(text: string | null): SharedOptions {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
}

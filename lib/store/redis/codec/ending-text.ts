import type { KeepRule } from '../../../core/options/queue-options.js';
import type { StoredJob } from '../../job-store.js';
import { decodeEnvelope } from './envelope-text.js';

/** The argument `keepEnded` of the scripts: see parts/keep-ended.lua. */
export const encodeKeepEnded = ({ count, ageMs }: KeepRule): string => (count === 0 ? '' : `${count} ${ageMs}`);

type Ending = Pick<StoredJob, 'state' | 'attempts' | 'dueAtMs' | 'reason' | 'envelope'>;

/** What is kept of a job that was discarded or cancelled: see parts/keep-ended.lua. */
export function decodeEnding(text: string): Ending {
  const lineEnd = text.indexOf('\n');
  const [letter, attempts, dueAtMs, ...reason] = text.slice(0, Math.max(0, lineEnd)).split(' ');
  return {
    state: letter === 'd' ? 'discarded' : 'cancelled',
    attempts: Number(attempts ?? 0),
    dueAtMs: Number(dueAtMs ?? 0),
    reason: readReason(reason.join(' ')),
    envelope: decodeEnvelope(text.slice(lineEnd + 1)),
  };
}

/** Somebody may have changed it by hand. */
function readReason(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}

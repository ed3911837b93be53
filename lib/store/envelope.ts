import type { LatenessRule } from '../core/job/lateness.js';
import type { NewJob } from '../core/job/new-job.js';

<<<<<<< HEAD
/** All that is stored of a job from its schedule to its end. */
=======
/**
 * What is stored of a job from its schedule to its end:
 *
 *     <priority>:<worker>:<name>      the route: the lane, which the scripts read (the worker that it prefers, or nothing), and before it, where there is one, the
 *                                     late rule and a space: r (run), d (discard) or x (dead-letter) and the longest lateness in ms
 *     <created, epoch ms> <flags>     by Redis' clock; flag `c`: the caller chose the id; then the tags, a tab before each,
 *                                     which is no printable character
 *     <settings>                      JSON of what the call itself said, headers last (see scripts/relay/read.lua), or nothing
 *     <payload>                       as serialised; it may hold anything, line breaks too
 */
>>>>>>> lua2
export interface Envelope {
  readonly name: string;
  readonly priority: number;
  /** The worker that it prefers. */
  readonly worker?: string;
  /** By the store's clock. */
  readonly createdAtMs: number;
  readonly idWasChosen: boolean;
  readonly tags: readonly string[];
  readonly settings: EnvelopeSettings;
  readonly lateness?: LatenessRule;
  /** As serialised. */
  readonly payload: string;
}

/** What the call to `schedule` itself said; the definition's part is decided where the handler runs. */
export type EnvelopeSettings = NewJob['settings'];

/** In the place of an envelope that is missing, or that somebody has damaged. */
export interface Unreadable {
  /** What is wrong with it, without anything that it holds. */
  readonly unreadable: string;
}

/** True for an envelope, false for what stands in the place of one. */
export function isReadable(envelope: Envelope | Unreadable): envelope is Envelope {
  return !('unreadable' in envelope);
}

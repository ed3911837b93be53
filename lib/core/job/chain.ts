import { asBuffer } from '../payload/codecs.js';
import type { NewJob } from './new-job.js';

/** Where a job stands in its chain, as its handler sees it. */
export interface JobChain {
  /** The id of the first job of the chain. */
  readonly id: string;
  /** Which job of the chain this is, from 1. */
  readonly step: number;
  /** How many jobs the chain has. */
  readonly of: number;
  /**
   * What the job before returned; of a batch handler only what `JobOutcome.each` held for it. `undefined` in the first step, where nothing was
   * returned, and where JSON cannot hold it within `maxPayloadBytes`.
   */
  readonly result: unknown;
}

/** A chain as it is stored with its present job. */
export interface StoredChain {
  /** Missing in the first step: that one's own. */
  readonly id?: string;
  readonly step: number;
  readonly of: number;
  readonly result?: unknown;
  /** What follows. */
  readonly next: readonly StoredStep[];
}

/** A step that waits for the one before it: plain JSON. It has neither an id nor an instant. */
export interface StoredStep
  extends Omit<NewJob, 'id' | 'due' | 'set' | 'chain' | 'payload' | 'maxWaitMs' | 'throttleMs'> {
  readonly delayMs: number;
  readonly payload: string;
  /** Where a codec has written bytes: `payload` holds these as base64. */
  readonly encoding?: 'base64';
}

/** The chain of a job that is new. `result`: JSON of what the job before has returned. */
export interface NewChain extends Omit<StoredChain, 'result'> {
  readonly result?: string;
}

/** Writes a step that `toNewJob` reads. */
export function toStoredStep(job: NewJob): StoredStep {
  const { name, version, priority, due, worker, group, tags, settings, lateness, codec, payload } = job;
  const delayMs = 'delayMs' in due ? due.delayMs : 0;
  const step = { name, version, priority, worker, group, tags, settings, lateness, codec, delayMs };
  if (typeof payload === 'string') return { ...step, payload };
  return { ...step, payload: asBuffer(payload).toString('base64'), encoding: 'base64' };
}

/** The next job of a chain, and how long after the end of the job before it is due. */
export function nextJob(
  chain: StoredChain,
  { id, set, result }: { id: string; set?: string; result?: string },
): NewJob {
  const [{ delayMs, payload, encoding, ...job }, ...next] = chain.next as readonly [StoredStep, ...StoredStep[]];
  return {
    ...job,
    due: { delayMs },
    set,
    chain: { id: chain.id ?? id, step: chain.step + 1, of: chain.of, result, next },
    payload: encoding ? Buffer.from(payload, encoding) : payload,
  };
}

/** As a handler sees it. `id`: of the job. */
export function chainOf(id: string, chain: StoredChain | undefined): JobChain | undefined {
  return chain && { id: chain.id ?? id, step: chain.step, of: chain.of, result: chain.result };
}

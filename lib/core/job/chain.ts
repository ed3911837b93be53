import { asBuffer } from '../payload/codecs.js';
import type { NewJob, StoredChain, StoredStep } from './new-job.js';
import type { JobChain } from './scheduled-job.js';

/** Each field has to be named, so that a new one of jobs that is missing here does not compile, rather than be lost from every step. */
type AllOf<T> = { [K in keyof Required<T>]: T[K] };

/** Writes a step that `nextJob` reads. */
export function toStoredStep(job: NewJob): StoredStep {
  const { name, version, priority, due, worker, group, tags, settings, lateness, codec, payload } = job;
  const delayMs = 'delayMs' in due ? due.delayMs : 0;
  const step: AllOf<Omit<StoredStep, 'payload' | 'encoding'>> = {
    name,
    version,
    priority,
    worker,
    group,
    tags,
    settings,
    lateness,
    codec,
    delayMs,
  };
  if (typeof payload === 'string') return { ...step, payload };
  return { ...step, payload: asBuffer(payload).toString('base64'), encoding: 'base64' };
}

/** The next job of a chain, and how long after the end of the job before it is due. */
export function nextJob(
  chain: StoredChain,
  step: StoredStep,
  { id, set, result }: { id: string; set?: string; result?: string },
): AllOf<Omit<NewJob, 'id' | 'due' | 'maxWaitMs' | 'throttleMs'>> & { due: { delayMs: number } } {
  // By name: a step comes from Redis, and what else somebody has put there goes no further.
  const { name, version, priority, worker, group, tags, settings, lateness, codec, delayMs, payload, encoding } = step;
  return {
    name,
    version,
    priority,
    worker,
    group,
    tags,
    settings,
    lateness,
    codec,
    due: { delayMs },
    set,
    chain: { id: chain.id ?? id, step: chain.step + 1, of: chain.of, result, steps: chain.later },
    payload: encoding ? Buffer.from(payload, encoding) : payload,
  };
}

/** As a handler sees it. `id`: of the job. */
export function chainOf(id: string, chain: StoredChain | undefined): JobChain | undefined {
  return chain && { id: chain.id ?? id, step: chain.step, of: chain.of, result: chain.result };
}

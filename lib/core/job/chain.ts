import { asBuffer } from '../payload/codecs.js';
import type { NewJob, StoredChain, StoredStep } from './new-job.js';
import type { JobChain } from './scheduled-job.js';

/** Writes a step that `toNewJob` reads. */
export function toStoredStep(job: NewJob): StoredStep {
  const { name, version, priority, due, worker, group, tags, settings, lateness, codec, payload } = job;
  const delayMs = 'delayMs' in due ? due.delayMs : 0;
  const step = { name, version, priority, worker, group, tags, settings, lateness, codec, delayMs };
  if (typeof payload === 'string') return { ...step, payload };
  return { ...step, payload: asBuffer(payload).toString('base64'), encoding: 'base64' };
}

/** The next job of a chain, and how long after the end of the job before it is due; `undefined` where the chain ends. */
export function nextJob(
  chain: StoredChain,
  { id, set, result }: { id: string; set?: string; result?: string },
): NewJob | undefined {
  if (!chain.next) return undefined;
  // By name: a step comes from Redis, and what else somebody has put there goes no further.
  const { name, version, priority, worker, group, tags, settings, lateness, codec, delayMs, payload, encoding } =
    chain.next;
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
    chain: { id: chain.id ?? id, step: chain.step + 1, of: chain.of, result, next: chain.later },
    payload: encoding ? Buffer.from(payload, encoding) : payload,
  };
}

/** As a handler sees it. `id`: of the job. */
export function chainOf(id: string, chain: StoredChain | undefined): JobChain | undefined {
  return chain && { id: chain.id ?? id, step: chain.step, of: chain.of, result: chain.result };
}

import { queuesOfDefinitions } from '../../core/job/definition.js';
import { DEFAULT_QUEUE } from '../../core/options/queue-options.js';
import { firstFew, nearest } from '../../core/read/describe.js';
import type { HandlerRegistry } from '../../worker/run/job-handler.js';
import type { ModuleSettings } from '../module-options.js';

const QUEUES_TOLD = 10;
/** Shorter times are most likely seconds taken for milliseconds. */
const SHORT_MS = 100;

/**
 * A sentence where the module's `queues` names queues that no handler and no definition of this process names: they may be misspelt,
 * and then their limits hold nowhere. No error: a process may name queues in its calls alone.
 */
export function unnamedQueues(queues: ReadonlyMap<string, unknown>, registry: HandlerRegistry): string[] {
  const named = new Set([DEFAULT_QUEUE, ...registry.found().map(({ queue }) => queue), ...queuesOfDefinitions()]);
  const unnamed = [...queues.keys()].filter((queue) => !named.has(queue));
  if (unnamed.length === 0) return [];
  const told = unnamed.map((queue) => {
    const near = nearest(queue, [...named]);
    return near === undefined ? `'${queue}'` : `'${queue}' (did you mean '${near}'?)`;
  });
  return [
    `The option queues has options for ${firstFew(told, QUEUES_TOLD)}, which no handler and no definition of this process names, so they may hold for no job. Nothing is wrong where this process only names the queue in its calls, or shares its options with other processes.`,
  ];
}

/** A sentence for each time that looks like seconds. 0 has a meaning of its own. */
export function shortTimes({ shutdownTimeoutMs }: ModuleSettings, registry: HandlerRegistry): string[] {
  const times: [string, number][] = [
    ['The option shutdownTimeoutMs', shutdownTimeoutMs],
    ...registry.all().map(({ place, name, settings }): [string, number] => {
      return [`The timeoutMs of job '${name}' (${place})`, settings.timeoutMs];
    }),
  ];
  return times.flatMap(([which, ms]) =>
    ms > 0 && ms < SHORT_MS ? [`${which} is ${ms} milliseconds. Write '${ms}s' where seconds are meant.`] : [],
  );
}

/** A sentence for each batch that can never be full: the limit over all processes counts jobs, not calls. */
export function batchesBeyondLimits({ settingsOf }: ModuleSettings, registry: HandlerRegistry): string[] {
  return registry.all().flatMap(({ place, name, queue, settings: { batch } }) => {
    const { globalConcurrency } = settingsOf(queue);
    if (!batch || batch.size <= globalConcurrency) return [];
    return [
      `The batch.size of job '${name}' (${place}) is ${batch.size}, and no call gets more than ${globalConcurrency} jobs: globalConcurrency of queue '${queue}' counts jobs. Raise it, or lower the size.`,
    ];
  });
}

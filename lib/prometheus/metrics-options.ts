import { type Registry, type RegistryContentType, register } from 'prom-client';
import { invalidOptions } from '../core/errors.js';
import { describe } from '../core/read/describe.js';
import { jobName, keyPart } from '../core/read/names.js';
import { type Check, integer, readOptions, type Shape } from '../core/read/shape.js';
import { DEFAULT_INSTANCE } from '../nest/tokens.js';
import { OTHER_NAMES } from './job-names.js';

/** The options of `ScheduledQueueMetricsModule.forRoot`. */
export interface ScheduledQueueMetricsOptions {
  /** Where the metrics are registered. Default: the default registry of prom-client, which `register` of that package is. */
  registry?: Registry<RegistryContentType>;
  /** The name of the instance of `RedisScheduledQueueModule` that is measured. Default: the one without a name. */
  instance?: string;
  /** The queues that are read at a scrape. Default: all in which somebody has scheduled or worked, as `inspector.queues()` tells them. */
  queues?: readonly string[];
  /**
   * Which names of jobs the label `job` tells apart: as many as this number, the first that the process meets, or those of a list. The others
   * read `other`. With `false` all read `''`. Default 50.
   */
  jobNames?: number | readonly string[] | false;
}

export interface MetricsSettings {
  registry: Registry<RegistryContentType>;
  instance: string;
  queues?: readonly string[];
  jobNames: number | readonly string[] | false;
}

/** Each name is a series in nine metrics, of some hundred lines in all. */
const MOST_NAMES = 10_000;
const JOB_NAMES = 50;

/** By its methods: it may be of another copy of prom-client. */
const registry: Check<Registry<RegistryContentType>> = (value) =>
  ['registerMetric', 'getSingleMetric'].every(
    (method) => typeof (value as Record<string, unknown>)?.[method] === 'function',
  )
    ? { value: value as Registry<RegistryContentType> }
    : { problem: `got ${describe(value)}, expected a Registry of prom-client` };

const SHAPE: Shape<MetricsSettings> = {
  registry,
  instance: keyPart,
  queues: listOf('queues', keyPart),
  jobNames: (value) => {
    if (value === false) return { value };
    if (typeof value === 'number') return integer(0, MOST_NAMES)(value);
    if (!Array.isArray(value))
      return { problem: `got ${describe(value)}, expected a number of names, a list of names, or false` };
    if (value.includes(OTHER_NAMES))
      return {
        problem: `got a list with '${OTHER_NAMES}', which all names read that the list leaves out; leave it out, or give the job another name`,
      };
    return listOf('names of jobs', jobName)(value);
  },
};

/** Reads the options of the module and fills in the defaults. Throws `InvalidOptionsError`. */
export function readMetricsOptions(given: unknown, where: string): MetricsSettings {
  const read = readOptions(given, SHAPE, where, invalidOptions);
  return { registry: register, instance: DEFAULT_INSTANCE, jobNames: JOB_NAMES, ...read };
}

function listOf<T>(what: string, one: Check<T>): Check<readonly T[]> {
  return (value) => {
    if (!Array.isArray(value)) return { problem: `got ${describe(value)}, expected a list of ${what}` };
    const list = new Set<T>();
    for (const [i, each] of value.entries()) {
      const read = one(each);
      if ('problem' in read) return { problem: `[${i}]: ${read.problem}` };
      list.add(read.value);
    }
    return { value: [...list] };
  };
}

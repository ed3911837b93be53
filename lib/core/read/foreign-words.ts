/** How a word of another library is called here: the option, or, where it is none of the place that is asked, where to find it. */
interface Word {
  /** Options by which it may be meant, the first that is known in the place. */
  options?: readonly string[];
  /** What to do where none of them is known there. */
  elsewhere: string;
}

const ofQueue = (option: string) => `a queue's ${option}: queues: { default: { ${option} } }`;
const OF_RULE = 'the rule of a recurrence: @OnScheduledJob(job, { cron, timeZone }) or upsertRecurrence';

const BULLMQ: Readonly<Record<string, Word>> = {
  jobId: { options: ['id'], elsewhere: 'the option id of schedule' },
  attempts: { options: ['maxAttempts'], elsewhere: 'maxAttempts of a definition, a handler or a call' },
  removeOnComplete: { options: ['keepCompleted'], elsewhere: ofQueue('keepCompleted') },
  removeOnFail: { options: ['keepDead'], elsewhere: ofQueue('keepDead') },
  limiter: { options: ['rateLimit'], elsewhere: ofQueue('rateLimit') },
  duration: { options: ['perMs', 'durationMs', 'timeoutMs'], elsewhere: 'perMs of rateLimit' },
  lockDuration: { options: ['leaseMs'], elsewhere: ofQueue('leaseMs') },
  lockRenewTime: { options: ['leaseMs'], elsewhere: ofQueue('leaseMs') },
  stalledInterval: { options: ['leaseMs'], elsewhere: ofQueue('leaseMs') },
  maxStalledCount: { options: ['maxCrashes'], elsewhere: ofQueue('maxCrashes') },
  drainDelay: { options: ['maxSleepMs'], elsewhere: ofQueue('maxSleepMs') },
  deduplication: { options: ['onDuplicate'], elsewhere: 'id with onDuplicate' },
  debounce: { options: ['onDuplicate'], elsewhere: `id with onDuplicate: 'replace'` },
  repeat: { options: ['cron'], elsewhere: OF_RULE },
  pattern: { options: ['cron'], elsewhere: OF_RULE },
  every: { options: ['everyMs'], elsewhere: OF_RULE },
  tz: { options: ['timeZone'], elsewhere: OF_RULE },
  startDate: { options: ['startAt'], elsewhere: OF_RULE },
  endDate: { options: ['endAt'], elsewhere: OF_RULE },
  minSize: { options: ['waitMs'], elsewhere: 'waitMs of batch: @OnScheduledJob(job, { batch: { size, waitMs } })' },
  timeout: { options: ['waitMs', 'timeoutMs'], elsewhere: 'timeoutMs of a definition, a handler or a call' },
  lifo: { options: ['priority'], elsewhere: 'priority, of which a lower number is more urgent' },
  defaultJobOptions: { elsewhere: 'the options of each definition: defineScheduledJob(name, { … })' },
};

const NEST_SCHEDULE: Readonly<Record<string, Word>> = {
  name: { options: ['recurrenceId'], elsewhere: 'recurrenceId, or the first argument' },
  // No `options`: where timeZone is known, the check for misspellings suggests it.
  timezone: { elsewhere: OF_RULE },
  utcOffset: { options: ['timeZone'], elsewhere: OF_RULE },
  waitForCompletion: { options: ['overlap'], elsewhere: `overlap: 'skip' of a rule` },
};

/** Options of this library that are looked for where there are none. */
const OF_HANDLERS: Readonly<Record<string, string>> = {
  batch: 'it belongs to the handler: @OnScheduledJob(job, { batch })',
  weight: 'it belongs to the handler, @OnScheduledJob(job, { weight }), or, that of a group, to inspector.setGroup',
  concurrency: 'it belongs to the handler, @OnScheduledJob(job, { concurrency }), or to a queue of the module',
};

/** Where an option of handlers belongs that was given to something else; `undefined` for any other word. */
export function placeOfOption(name: string): string | undefined {
  return Object.hasOwn(OF_HANDLERS, name) ? OF_HANDLERS[name] : undefined;
}

/** What a word of BullMQ or @nestjs/schedule is called here; `undefined` for any other one. */
export function ownWordFor(name: string, known: readonly string[]): { sentence: string; isKnown: boolean } | undefined {
  const [from, words] = Object.hasOwn(BULLMQ, name)
    ? (["BullMQ's", BULLMQ] as const)
    : (["@nestjs/schedule's", NEST_SCHEDULE] as const);
  if (!Object.hasOwn(words, name)) return undefined;
  const { options = [], elsewhere } = words[name]!;
  const here = options.find((option) => known.includes(option));
  return {
    sentence: `${from} '${name}' is ${here === undefined ? elsewhere : `'${here}' here`}`,
    isKnown: here !== undefined,
  };
}

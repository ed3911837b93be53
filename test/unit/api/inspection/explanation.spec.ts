import { describe, expect, it } from '@jest/globals';
import { explainJob } from '../../../../lib/api/inspection/explanation.js';
import { type QueueOptions, readQueueOptions } from '../../../../lib/core/options/queue-options.js';
import type { Envelope } from '../../../../lib/store/envelope.js';
import type { KnownGroup, QueueView, StoredJob } from '../../../../lib/store/job-store.js';

const NOW = 1_800_000_000_000;
/** A due job that prefers a worker which is there, and may be stolen only later. */
const JOB: StoredJob = {
  id: 'j',
  state: 'due',
  dueAtMs: NOW,
  attempts: 2,
  crashes: 2,
  envelope: {
    name: 'work',
    priority: 5,
    worker: 'busy',
    createdAtMs: NOW,
    idWasChosen: false,
    tags: [],
    settings: {},
    payload: 'null',
  },
  failures: [],
};

const explain = (job: StoredJob, blackoutUntilMs?: number) => {
  const store = {
    job: async () => job,
    pausedUntil: async () => undefined,
    blackouts: async () => ({ rules: [], untilMs: blackoutUntilMs }),
    handledBy: async () => ({ count: 1, workers: ['busy'] }),
    limits: async () => ({ nowMs: NOW, running: 0, started: 0, opensAtMs: NOW }),
    workers: async () => [{ id: 'busy', handles: ['work'], concurrency: 1 }],
    counts: async () => ({ due: 1, active: 0 }),
  };
  return explainJob(store as unknown as QueueView, 'q', 'j', readQueueOptions('q', {}));
};
/** Of a job of a group that is held so. */
const explainHeld = (known: Partial<KnownGroup>, options: QueueOptions = {}) => {
  const job = { ...JOB, envelope: { ...(JOB.envelope as Envelope), worker: undefined, group: 'a' } };
  const store = {
    job: async () => job,
    pausedUntil: async () => undefined,
    blackouts: async () => ({ rules: [], untilMs: undefined }),
    group: async () => ({ group: 'a', settings: {}, ...known }),
  };
  return explainJob(store as unknown as QueueView, 'q', 'j', readQueueOptions('q', options));
};
const codeOf = async (job: StoredJob) => (await explain(job)).code;

it('a job that prefers a worker waits for that one, but a suspect for any process that is empty', async () => {
  expect(await codeOf(JOB)).toBe('waiting-for-worker');
  expect(await codeOf({ ...JOB, isSuspect: true })).toBe('suspect');
});

it.each<[Partial<KnownGroup>, QueueOptions, string]>([
  [{ heldBy: 'paused', pausedUntilMs: Number.POSITIVE_INFINITY }, {}, 'is paused until somebody resumes it'],
  [{ heldBy: 'paused', pausedUntilMs: NOW }, {}, `is paused until ${new Date(NOW).toISOString()}`],
  [
    { heldBy: 'rate', opensAtMs: NOW },
    { groups: { rateLimit: { max: 3, perMs: 60_000 } } },
    `has used up its rateLimit of 3 in 1 min; its next job may start at ${new Date(NOW).toISOString()}`,
  ],
  // Besides, a job of it has to end first, and nobody knows when.
  [
    { heldBy: 'rate', settings: { rateLimit: { max: 5, perMs: 1_000 } } },
    { groups: { order: 'fifo', rateLimit: { max: 3, perMs: 60_000 } } },
    'has used up its rateLimit of 5 in 1 s',
  ],
  [{ heldBy: 'concurrency' }, { groups: { concurrency: 2 } }, 'runs as many jobs as its concurrency lets, 2'],
])('a job of a group that is held says by what: %j, %j', async (known, options, why) => {
  expect(await explainHeld(known, options)).toEqual({
    code: `group-${known.heldBy}`,
    message: `Job 'work' (j) of queue 'q' is due, but its group 'a' ${why}.`,
  });
});

it('an occurrence that waits for the end of the previous one says so, though it is due a moment ahead again and again', async () => {
  const held = { ...JOB, waitsForEndOf: 'digest@1' };
  expect(await codeOf(held)).toBe('overlap');
  expect(await codeOf({ ...held, state: 'scheduled' })).toBe('overlap');
});

it.each([
  [NOW, `is in a blackout until ${new Date(NOW).toISOString()}.`],
  [Number.POSITIVE_INFINITY, 'is shut until a worker has computed its next blackouts.'],
])('in a blackout the message says until when, or what is missing (%p)', async (untilMs, end) => {
  expect(await explain(JOB, untilMs)).toEqual({
    code: 'blackout',
    message: `Job 'work' (j) of queue 'q' is due, but its queue ${end}`,
  });
});

it.each([
  [{}, 'completed jobs are not kept, as keepCompleted is 0'],
  [{ keepCompleted: 100 }, 'keepCompleted keeps the last 100 completed jobs'],
  [
    { keepCompleted: { count: 100, ageMs: '1h' } } as const,
    'keepCompleted keeps the last 100 completed jobs, for at most 1 h',
  ],
  [{ keepCompleted: { ageMs: '90m' } } as const, 'keepCompleted keeps completed jobs for 1 h 30 min'],
  [
    { keepEnded: 100 },
    'completed jobs are not kept, as keepCompleted is 0',
    'keepEnded keeps the last 100 discarded and cancelled jobs',
  ],
])(
  'a job that is gone may have completed, and with %j the message says what is kept of those',
  async (options, kept, ended = 'discarded and cancelled jobs are not kept, as keepEnded is 0') => {
    const store = { job: async () => undefined } as unknown as QueueView;
    expect(await explainJob(store, 'q', 'j', readQueueOptions('q', options))).toEqual({
      code: 'unknown',
      message: `Queue 'q' has no job 'j'. It may have completed (${kept}); it may have been discarded or cancelled (${ended}); or it was removed or purged, or was never scheduled in this queue.`,
    });
  },
);

describe('of a discarded job the message says', () => {
  const discarded = (reason: string, attempts: number, lateByMs = 0): StoredJob => ({
    ...JOB,
    state: 'discarded',
    reason,
    attempts,
    endedAtMs: NOW + lateByMs,
    envelope: { ...(JOB.envelope as Envelope), lateness: { maxLatenessMs: 5_400_000, onLate: 'discard' } },
  });
  const why = async (job: StoredJob) => (await explain(job)).message.split(/ was discarded at \S+?Z/)[1];

  it('why the library discarded it before its first attempt', async () => {
    expect(await why(discarded('late', 0, 5_490_000))).toBe(
      ': it could only begin 1 h 31 min after it was due, and its maxLatenessMs is 1 h 30 min.',
    );
    expect(await why(discarded('missed', 0))).toBe(
      ': too late to begin, and the onMissed of the recurrence makes up for no more.',
    );
    expect(await why(discarded('overlap', 0))).toBe(
      ': the previous occurrence had not ended, and the recurrence allows no overlap.',
    );
  });

  it.each(['late', 'missed', 'overlap', 'constructor'])(
    "the handler's own reason, even if that is %p",
    async (reason) => {
      expect(await why(discarded(reason, 1))).toBe(`: ${reason}.`);
    },
  );

  it('nothing more, if the handler gave no reason', async () => {
    expect(await why(discarded('', 1))).toBe('.');
  });
});

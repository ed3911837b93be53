import type { Benchmark } from '../benchmark.js';
import type { Job, Session } from '../contestants/contestant.js';
import { payloadOf } from '../measure/payloads.js';
import { drain, fill } from '../measure/throughput.js';

const SET = 'import/7';
const STEPS = 5;

interface Case {
  concurrency: number;
  job: Omit<Job, 'payload'>;
  /** How many jobs become of one that is scheduled. */
  length: number;
  title: string;
}

const CASES: Readonly<Record<string, Case>> = {
  plain: { concurrency: 100, job: {}, length: 1, title: 'Drain due jobs without a set, 100 at once' },
  members: { concurrency: 100, job: { set: SET }, length: 1, title: 'Drain due members of a set, 100 at once' },
  plain10: { concurrency: 10, job: {}, length: 1, title: 'Drain due jobs without a set, 10 at once' },
  members10: { concurrency: 10, job: { set: SET }, length: 1, title: 'Drain due members of a set, 10 at once' },
  steps: {
    concurrency: 100,
    job: { steps: STEPS - 1 },
    length: STEPS,
    title: `Drain chains of ${STEPS} jobs, 100 at once`,
  },
};

const NAMES = Object.keys(CASES);

export const sets: Benchmark = {
  name: 'sets',
  about:
    'As drain, of this library alone: jobs without a set, members of one set that is open, and steps of chains, each of which is scheduled by ' +
    'the script that ends the one before. Counted are jobs.',
  contestants: ['ours'],
  cases: NAMES.map((name) => ({ name, size: { jobs: 100_000 }, quick: { jobs: 2_000 } })),
  figures: NAMES.flatMap((name) => [
    { key: name, title: CASES[name]!.title, unit: 'jobs/s', better: 'more' as const },
    { key: `${name}RedisCpu`, title: `Redis CPU a job: ${CASES[name]!.title}`, unit: 'µs', better: 'less' as const },
  ]),
  bars: [
    { figure: 'members', over: { figure: 'plain' }, atLeast: 0.7 },
    { figure: 'members10', over: { figure: 'plain10' }, atLeast: 0.7 },
    { figure: 'steps', over: { figure: 'plain' }, atLeast: 0.5 },
  ],
  timeoutMs: 120_000,

  async run(context) {
    const { concurrency, job, length } = CASES[context.case]!;
    const count = context.size('jobs');
    const { rate, redisCpu } = await drain(context, {
      count,
      concurrency,
      async fill(session: Session) {
        await session.openSet!(SET);
        await fill(session, count / length, { ...job, payload: payloadOf() });
      },
    });
    return { [context.case]: rate, [`${context.case}RedisCpu`]: redisCpu };
  },
};

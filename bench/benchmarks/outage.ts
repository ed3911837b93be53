import { startShiftedRedis } from '../../test/support/shifted-redis.js';
import type { Benchmark } from '../benchmark.js';
import { payloadOf } from '../measure/payloads.js';
import { RedisProbe } from '../measure/redis-probe.js';
import { passed } from '../measure/starts.js';
import { callRate } from '../measure/throughput.js';

const HOUR_S = 3_600;
/** As many as there are recurrences, so that one turn may judge them all. */
const CONCURRENCY = 1_000;
/** Scripts shorter than this are not remembered. */
const SLOW_FROM_MICROS = 200;

const RULES: Readonly<Record<string, { cron: string; timeZone: string } | { everyMs: number; offsetMs: number }>> = {
  cron: { cron: '* * * * * *', timeZone: 'UTC' },
  every: { everyMs: 1_000, offsetMs: 0 },
};

const TITLES: Readonly<Record<string, string>> = { cron: 'cron', every: '`everyMs`' };

export const outage: Benchmark = {
  name: 'outage',
  about:
    '1 000 recurrences by the second, all of whose missed occurrences are made up for, after an hour without any process, which the clock of ' +
    'Redis is set ahead for: the longest that one script holds Redis while a process with a concurrency of 1 000 makes up for them, by Redis’ ' +
    'slowlog, and how many begin a second.',
  contestants: ['ours'],
  cases: Object.keys(RULES).map((name) => ({
    name,
    size: { recurrences: 1_000, seconds: 20 },
    quick: { recurrences: 50, seconds: 3 },
  })),
  figures: Object.keys(RULES).flatMap((name) => [
    {
      key: name,
      title: `Longest script after an outage, rules by ${TITLES[name]}`,
      unit: 'ms',
      better: 'less' as const,
    },
    {
      key: `${name}Rate`,
      title: `Occurrences made up for, rules by ${TITLES[name]}`,
      unit: '/s',
      better: 'more' as const,
    },
  ]),
  bars: Object.keys(RULES).map((figure) => ({ figure, atMost: 20 })),
  timeoutMs: 120_000,

  async run({ contestant, size, case: name }) {
    const redis = await startShiftedRedis();
    if ('missing' in redis) throw new Error(`A Redis whose clock can be set is needed: ${redis.missing}.`);
    const probe = new RedisProbe(redis.url);
    try {
      let begun = 0;
      const session = await contestant.open({ redis: redis.url, concurrency: CONCURRENCY, handle: () => begun++ });
      const upsert = (index: number) =>
        session.upsertRecurrence!({
          id: `rule-${index}`,
          payload: payloadOf(),
          rule: { ...RULES[name]!, onMissed: 'all' },
        });
      await callRate(size('recurrences'), upsert);
      await session.start();
      await passed(2_000);
      await session.stop!();
      await redis.shift(HOUR_S);
      await probe.watchSlow(SLOW_FROM_MICROS);
      begun = 0;
      await session.start();
      await passed(size('seconds') * 1_000);
      const rate = begun / size('seconds');
      return { [name]: Math.max(SLOW_FROM_MICROS, ...(await probe.scriptMicros())) / 1_000, [`${name}Rate`]: rate };
    } finally {
      probe.close();
      await redis.stop();
    }
  },
};

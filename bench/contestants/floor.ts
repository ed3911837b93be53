import { Redis } from 'ioredis';
import type { Contestant, Handle, Job } from './contestant.js';

// The least that any reliable scheduled queue can do with this client: one script schedules, one settles what has ended
// and claims what is due under a lease. A hash of payloads, a sorted set of due times, one of leases. No fences, retries,
// dead letters, events or priorities, no call is safe to repeat, and nothing tells a sleeping worker of another process.

const LEASE_MS = 15_000;
/** More jobs a script are no faster and keep others waiting. */
const JOBS_A_CALL = 500;

/** KEYS: payloads, due times. ARGV: three for each job: id, payload, due (epoch ms, '' = now). */
const SCHEDULE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local payloads, dues = {}, {}
for i = 1, #ARGV, 3 do
  payloads[#payloads + 1] = ARGV[i]
  payloads[#payloads + 1] = ARGV[i + 1]
  dues[#dues + 1] = ARGV[i + 2] == '' and now or ARGV[i + 2]
  dues[#dues + 1] = ARGV[i]
end
redis.call('HSET', KEYS[1], unpack(payloads))
redis.call('ZADD', KEYS[2], unpack(dues))
return now`;

/** KEYS: payloads, due times, leases. ARGV: lease (ms), how many to claim, ids of jobs that have ended. */
const SETTLE_AND_CLAIM = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if #ARGV > 2 then
  redis.call('ZREM', KEYS[3], unpack(ARGV, 3))
  redis.call('HDEL', KEYS[1], unpack(ARGV, 3))
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('ZREM', KEYS[3], id)
  redis.call('ZADD', KEYS[2], now, id)
end
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[2])
if #ids == 0 then
  local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return {head[2] or '', now}
end
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, #ids - 1)
local leases = {}
for i, id in ipairs(ids) do
  leases[2 * i - 1] = now + ARGV[1]
  leases[2 * i] = id
end
redis.call('ZADD', KEYS[3], unpack(leases))
return {ids, redis.call('HMGET', KEYS[1], unpack(ids))}`;

interface FloorClient extends Redis {
  scheduleJobs(jobs: string, due: string, ...args: (string | number)[]): Promise<number>;
  settleAndClaim(
    jobs: string,
    due: string,
    leases: string,
    leaseMs: number,
    limit: number,
    ...ended: string[]
  ): Promise<[string[], string[]] | [string, number]>;
}

const [JOBS, DUE, LEASES] = ['floor:jobs', 'floor:due', 'floor:leases'] as const;

export const floor: Contestant = {
  configured:
    'two scripts over ioredis; one call a job where jobs come one by one, chunks of 500 in bulk; settling and claiming is ' +
    'one call; payloads are handed over unread',

  async open({ redis, concurrency, handle, settled }) {
    const producer = connect(redis);
    const worker = new FloorWorker(connect(redis), concurrency, handle, settled ?? (() => {}));
    const send = (jobs: readonly Job[]) =>
      producer.scheduleJobs(
        JOBS,
        DUE,
        ...jobs.flatMap(({ payload, dueAt }) => [nextId(), JSON.stringify(payload), dueAt ?? '']),
      );
    return {
      async schedule(job) {
        await send([job]);
        worker.lookBy(job.dueAt ?? 0);
      },
      async scheduleMany(jobs) {
        const chunks: (readonly Job[])[] = [];
        for (let i = 0; i < jobs.length; i += JOBS_A_CALL) chunks.push(jobs.slice(i, i + JOBS_A_CALL));
        await Promise.all(chunks.map(send));
        worker.lookBy(Math.min(...jobs.map(({ dueAt }) => dueAt ?? 0)));
      },
      start: async () => worker.start(),
    };
  },
};

function connect(url: string): FloorClient {
  const client = new Redis(url);
  client.defineCommand('scheduleJobs', { numberOfKeys: 2, lua: SCHEDULE });
  client.defineCommand('settleAndClaim', { numberOfKeys: 3, lua: SETTLE_AND_CLAIM });
  return client as FloorClient;
}

/** As short as an id can be that two producers are unlikely to share. */
let made = 0;
const maker = Math.floor(Math.random() * 36 ** 4)
  .toString(36)
  .padStart(4, '0');
const nextId = () => maker + (made++).toString(36).padStart(5, '0');

class FloorWorker {
  private timer: NodeJS.Timeout | undefined;
  private sleepingUntil = Number.POSITIVE_INFINITY;
  private started = false;

  constructor(
    private readonly client: FloorClient,
    private readonly concurrency: number,
    private readonly handle: Handle,
    private readonly settled: () => void,
  ) {}

  start(): void {
    this.started = true;
    void this.work();
  }

  lookBy(dueAt: number): void {
    if (this.started && dueAt < this.sleepingUntil) this.sleep(dueAt);
  }

  private async work(): Promise<void> {
    this.sleepingUntil = 0;
    let ended: string[] = [];
    for (;;) {
      const reply = await this.client.settleAndClaim(JOBS, DUE, LEASES, LEASE_MS, this.concurrency, ...ended);
      for (let i = 0; i < ended.length; i++) this.settled();
      if (typeof reply[0] === 'string') {
        this.sleep(reply[0] === '' ? Date.now() + 1_000 : Number(reply[0]));
        return;
      }
      const [ids, payloads] = reply as [string[], string[]];
      await Promise.all(payloads.map(this.handle));
      ended = ids;
    }
  }

  private sleep(until: number): void {
    clearTimeout(this.timer);
    this.sleepingUntil = until;
    this.timer = setTimeout(() => void this.work(), Math.max(0, until - Date.now()));
  }
}

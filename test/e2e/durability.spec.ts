import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { QueueUnavailableError } from '../../lib/index.js';
import { queueKeys } from '../../lib/store/keys.js';
import { audit } from '../support/audit.js';
import { startApp, stopApps } from '../support/queue-app.js';
import { startOwnServer } from '../support/redis-server.js';
import { until } from '../support/wait.js';

/** `npm run test:durability` does the same at length. */
const JOBS = Number(process.env.DURABILITY_JOBS ?? 5_000);
const KILLS = Number(process.env.DURABILITY_KILLS ?? 2);
/** How many calls are under way at once, so that each kill meets some. */
const AT_ONCE = 500;
const COMMAND_TIMEOUT_MS = 1_000;

it('every schedule that was answered is there after Redis was killed again and again, and none that was refused', async () => {
  const server = await startOwnServer('--appendonly', 'yes', '--appendfsync', 'always');
  const { producer, prefix } = await startApp([], { connection: server.url, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  const answered = new Set<string>();
  const refused = new Set<string>();
  const unknown = new Set<string>();
  let called = 0;
  // Half of the ids are the caller's. One that Redis was never asked about has no made id, and leaves nothing to look for.
  const schedule = async () => {
    const number = called++;
    const options = { delay: '1h', ...(number % 2 === 0 ? { id: `mine ${number}` } : {}) };
    try {
      const ref = await producer.schedule('work', number, options);
      expect(ref.created).toBe(true);
      answered.add(ref.id);
    } catch (error) {
      if (!(error instanceof QueueUnavailableError)) throw error;
      for (const id of error.jobIds) (error.outcome === 'refused' ? refused : unknown).add(id);
    }
  };
  const callers = Array.from({ length: AT_ONCE }, async () => {
    while (answered.size < JOBS) await schedule();
  });
  try {
    const killing = (async () => {
      for (let kill = 1; kill <= KILLS; kill++) {
        await until('its share is there', () => answered.size >= (JOBS * kill) / (KILLS + 1), 600_000);
        await server.kill();
        // Now shorter than a call may take, now longer.
        await sleep(kill % 2 === 0 ? COMMAND_TIMEOUT_MS / 4 : COMMAND_TIMEOUT_MS * 1.5);
        await server.restart();
      }
    })();
    await Promise.all([...callers, killing]);
    await server.kill();
    await server.restart();

    const redis = new Redis(server.url);
    const there = new Set(await redis.hkeys(queueKeys(prefix, 'default').jobs));
    expect([...answered].filter((id) => !there.has(id))).toEqual([]);
    expect([...refused].filter((id) => there.has(id))).toEqual([]);
    const strangers = [...there].filter((id) => !answered.has(id) && !unknown.has(id));
    expect(strangers).toEqual([]);
    expect(await audit(redis, prefix)).toEqual([]);
    redis.disconnect();
    const found = [...unknown].filter((id) => there.has(id)).length;
    process.stdout.write(
      `${KILLS} kills: ${answered.size} answered and there, ${refused.size} refused and not there, ` +
        `${unknown.size} unknown, ${found} of them there\n`,
    );
    expect(refused.size).toBeGreaterThan(0);
  } finally {
    await stopApps();
    await server.stop();
  }
}, 900_000);

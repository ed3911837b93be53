import { Redis } from 'ioredis';
import { headsKey, laneKey, queueKeys } from '../../lib/store/keys.js';

/** What is wrong with a queue's keys, in sentences; none when every job is in exactly one state and every index is true. */
export async function audit(redis: Redis, prefix: string, queue = 'default'): Promise<string[]> {
  const keys = queueKeys(prefix, queue);
  const problems: string[] = [];
  const lanes = new Map<string, [id: string, due: string][]>();
  for (const key of await redis.keys(`${keys.base}lane:*`))
    lanes.set(key.slice(laneKey(keys, '').length), await pairs(redis, key));

  const states = new Map<string, string[]>();
  const put = (id: string, state: string) => states.set(id, [...(states.get(id) ?? []), state]);
  for (const [lane, jobs] of lanes) for (const [id] of jobs) put(id, `lane ${lane}`);
  for (const [id] of await pairs(redis, keys.active)) put(id, 'active');
  for (const [id] of await pairs(redis, keys.dead)) put(id, 'dead');
  const envelopes = await redis.hgetall(keys.jobs);
  for (const [id, found] of states) {
    if (found.length > 1) problems.push(`${id} is in ${found.join(' and ')}`);
    if (!(id in envelopes)) problems.push(`${id} is in ${found[0]} and has no envelope`);
    const lane = envelopes[id]?.match(/^(?:[a-z]\d+ )?(.*)/)?.[1];
    if (found[0]!.startsWith('lane') && found[0] !== `lane ${lane}`)
      problems.push(`${id} is in ${found[0]}, its envelope says ${lane}`);
  }
  for (const id of Object.keys(envelopes)) if (!states.has(id)) problems.push(`${id} has an envelope and is nowhere`);

  problems.push(...(await auditIndexes(redis, prefix, queue, lanes)));
  problems.push(...(await auditClaims(redis, prefix, queue, states)));
  const stats = await redis.hgetall(keys.stats);
  const count = (counter: string) => Number(stats[counter] ?? 0);
  const gone = count('completed') + count('cancelled') + count('discarded') + count('deadDropped');
  if (count('scheduled') !== states.size + gone) {
    problems.push(`${count('scheduled')} were scheduled, but ${states.size} are there and ${gone} are gone`);
  }
  return problems;
}

async function auditIndexes(
  redis: Redis,
  prefix: string,
  queue: string,
  lanes: Map<string, [string, string][]>,
): Promise<string[]> {
  const keys = queueKeys(prefix, queue);
  const expected = new Map<string, [string, string][]>();
  for (const [lane, jobs] of lanes) {
    const level = lane.split(':', 1)[0]!;
    const [id, due] = jobs[0]!;
    expected.set(level, [...(expected.get(level) ?? []), [`${id}\t${lane}`, due]]);
  }
  const problems: string[] = [];
  const found = await redis.keys(headsKey(keys, '*'));
  const levels = new Set([...expected.keys(), ...found.map((key) => key.slice(headsKey(keys, '').length))]);
  for (const level of levels) {
    const heads = await pairs(redis, headsKey(keys, level));
    const wanted = expected.get(level) ?? [];
    if (text(heads) !== text(wanted)) problems.push(`heads of ${level} are ${text(heads)}, expected ${text(wanted)}`);
  }
  const earliest = [...expected].map(([level, heads]) => [
    level,
    String(Math.min(...heads.map(([, due]) => Number(due)))),
  ]);
  const levelPairs = await pairs(redis, keys.levels);
  if (text(levelPairs) !== text(earliest as [string, string][]))
    problems.push(`levels are ${text(levelPairs)}, expected ${text(earliest as [string, string][])}`);
  return problems;
}

async function auditClaims(
  redis: Redis,
  prefix: string,
  queue: string,
  states: Map<string, string[]>,
): Promise<string[]> {
  const problems: string[] = [];
  const records = await redis.hgetall(queueKeys(prefix, queue).claims);
  for (const [id, record] of Object.entries(records)) {
    const state = states.get(id)?.[0];
    const held = !record.startsWith('0 ');
    if (!state) problems.push(`${id} has a claim record and is nowhere`);
    else if (held !== (state === 'active')) problems.push(`${id} is ${state}, its claim record is "${record}"`);
  }
  for (const [id, [state]] of states)
    if (state === 'active' && !(id in records)) problems.push(`${id} is active without a claim record`);
  return problems;
}

async function pairs(redis: Redis, key: string): Promise<[string, string][]> {
  const flat = await redis.zrange(key, '0', '-1', 'WITHSCORES');
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}

function text(entries: [string, string][]): string {
  return JSON.stringify(entries.map(([member, score]) => `${member} ${score}`).sort());
}

import { Redis } from 'ioredis';
import { queueKeys } from '../../lib/store/redis/keys.js';

/** Member (or field) and score (or value). */
export type Pair = [member: string, value: string];

/** All keys of a queue at one instant. */
export interface QueueSnapshot {
  /** By what follows `lane:` in their keys. */
  lanes: Map<string, Pair[]>;
  /** By what follows `heads:` in their keys: a priority, or that and the ending of lanes that prefer a worker. */
  heads: Map<string, Pair[]>;
  /** By ending: '' of lanes that prefer no worker, a worker, or '*' of all that prefer one. */
  levels: Map<string, Pair[]>;
  /** By tag. */
  tags: Map<string, Pair[]>;
  /** By set: its pending members. */
  members: Map<string, Pair[]>;
  /** Sets that are not done, by id: what is known of each. */
  sets: Map<string, Map<string, string>>;
  /** The ids of these, as they are listed. */
  listedSets: string[];
  active: Pair[];
  dead: Pair[];
  completed: Pair[];
  envelopes: Map<string, string>;
  claims: Map<string, string>;
  /** "<due> <envelope>" by the id of the running job behind which it is queued. */
  queued: Map<string, string>;
  failures: Map<string, string>;
  results: Map<string, string>;
  /** Of jobs that were discarded or cancelled, and are kept. */
  ended: Pair[];
  endings: Map<string, string>;
  /** Lanes of versions above 1. */
  versioned: string[];
  /** "<group>\t<lane>". */
  groups: string[];
  /** "<group>\t<job id>". */
  runningOfGroups: string[];
  /** By group: until when it is held. */
  held: Map<string, string>;
  /** By group: until when it is paused. */
  pauses: Map<string, string>;
  /** By group: the job that holds it. */
  holders: Map<string, string>;
  /** By "<priority>:<name>": the turns of groups. */
  turns: Map<string, Pair[]>;
  /** By priority: turns that groups have left. */
  left: Map<string, Pair[]>;
  /** By priority: the present, and the names of which there are turns. */
  turning: Map<string, Map<string, string>>;
  /** The states of recurrences, by id. */
  timetable: Map<string, string>;
  stats: Map<string, string>;
  /** By Redis' clock, epoch ms. */
  takenAt: number;
}

// One read-only script, because Redis runs it whole: read key by key, a job that moves meanwhile is seen twice or nowhere.
const SCRIPT = `
local base = ARGV[1]
local function zset(key) return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
local function hash(key) return redis.call('HGETALL', base .. key) end
local function all(kind, isHash)
  local found = {}
  for _, key in ipairs(redis.call('KEYS', base .. kind .. ':*')) do
    local ending = string.sub(key, #base + #kind + 2)
    found[#found + 1] = { ending, isHash and hash(kind .. ':' .. ending) or zset(key) }
  end
  return found
end
local time = redis.call('TIME')
return {
  all('lane'), all('heads'), all('levels'), all('tag'), zset(base .. 'levels'), zset(base .. 'active'), zset(base .. 'dead'), zset(base .. 'completed'),
  all('turns'), all('left'), all('turning', hash), zset(base .. 'groups'), zset(base .. 'runningOfGroups'), zset(base .. 'held'), zset(base .. 'groupPauses'), hash('holders'),
  hash('jobs'), hash('claims'), hash('failures'), hash('results'), hash('stats'), hash('queued'), hash('timetable'), hash('endings'), zset(base .. 'ended'), time[1] * 1000 + math.floor(time[2] / 1000), redis.call('ZRANGE', base .. 'versioned', 0, -1), all('set', hash),
  redis.call('ZRANGE', base .. 'sets', 0, -1), all('members', hash),
}`;

/** Reads a queue whole, as it is at one instant. Not on a cluster: it asks which keys there are. */
export async function snapshot(redis: Redis, prefix: string, queue = 'default'): Promise<QueueSnapshot> {
  const reply = (await redis.eval(SCRIPT, 0, queueKeys(prefix, queue).base)) as [
    [string, string[]][],
    [string, string[]][],
    [string, string[]][],
    [string, string[]][],
    ...unknown[],
  ];
  const [lanes, heads, otherLevels, tags, ...others] = reply;
  const [levels, active, dead, completed] = others as string[][];
  const [turns, left, turning] = others.slice(4, 7) as [string, string[]][][];
  const [groups, runningOfGroups, held, pauses, holders, ...rest] = others.slice(7) as string[][];
  const [envelopes, claims, failures, results, stats, queued, timetable, endings] = rest
    .slice(0, 8)
    .map((flat) => new Map(pairs(flat)));
  return {
    lanes: new Map(lanes.map(([lane, flat]) => [lane, pairs(flat)])),
    heads: new Map(heads.map(([priority, flat]) => [priority, pairs(flat)])),
    levels: new Map([
      ['', pairs(levels!)],
      ...otherLevels.map(([ending, flat]): [string, Pair[]] => [ending, pairs(flat)]),
    ]),
    tags: new Map(tags.map(([tag, flat]) => [tag, pairs(flat)])),
    members: new Map((rest[13] as unknown as [string, string[]][]).map(([set, flat]) => [set, pairs(flat)])),
    sets: new Map((rest[11] as unknown as [string, string[]][]).map(([id, flat]) => [id, new Map(pairs(flat))])),
    listedSets: rest[12]!,
    groups: pairs(groups!).map(([member]) => member),
    runningOfGroups: pairs(runningOfGroups!).map(([member]) => member),
    held: new Map(pairs(held!)),
    pauses: new Map(pairs(pauses!)),
    holders: new Map(pairs(holders!)),
    turns: new Map(turns!.map(([key, flat]) => [key, pairs(flat)])),
    left: new Map(left!.map(([priority, flat]) => [priority, pairs(flat)])),
    turning: new Map(turning!.map(([priority, flat]) => [priority, new Map(pairs(flat))])),
    active: pairs(active!),
    dead: pairs(dead!),
    completed: pairs(completed!),
    envelopes: envelopes!,
    claims: claims!,
    failures: failures!,
    results: results!,
    timetable: timetable!,
    stats: stats!,
    queued: queued!,
    endings: endings!,
    ended: pairs(rest[8]!),
    takenAt: Number(rest[9]),
    versioned: rest[10]!,
  };
}

function pairs(flat: readonly string[]): Pair[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}

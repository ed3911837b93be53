/**
 * Every key of a queue, and a relay's `<target>`, which is the caller's own. All carry the hash tag `{<queue>}`, on a cluster the
 * target too, so each script touches one slot.
 *
 * | key                | type   | member -> value, unit                                            | written by                       | removed by                 |
 * | ------------------ | ------ | ---------------------------------------------------------------- | -------------------------------- | -------------------------- |
 * | jobs               | HASH | job id -> envelope (see codec/envelope-text.ts), of waiting, active and dead jobs | ordinary, schedule, append, replace, run-recurrence, cancel, cancel-tagged, clear, remove, close-set, every script that arms an occurrence | turn, ordinary, relay, cancel, purge, remove, clear, cancel-tagged, every script that disarms one, in-order |
 * | claims             | HASH | job id -> claim (see scripts/parts/claim.lua) | turn, ordinary, relay, cancel-running, schedule, append, replace, cancel, remove, clear, cancel-tagged, in-order | turn, ordinary, relay, cancel, replace, replay, purge, remove, clear, cancel-tagged, in-order |
 * | queued             | HASH   | id of a running job -> "<due, epoch ms> <envelope>" of the job that replaces it after the run | replace, reschedule, shift-tagged | turn, ordinary, relay, cancel, remove, clear, cancel-tagged |
 * | failures           | HASH   | job id -> lines "<epoch ms> <attempt> <JSON>"                    | turn, ordinary, relay | turn, ordinary, in-order, relay, cancel, replace, purge, remove, clear, cancel-tagged |
 * | active             | ZSET   | job id -> end of its lease, epoch ms                             | turn, ordinary, in-order, relay | turn, ordinary, in-order, relay |
 * | dead               | ZSET   | job id -> when it died, epoch ms                                 | turn, ordinary, relay | turn, relay, replace, replay, purge, remove |
 * | completed          | ZSET   | job id -> when it completed, epoch ms                            | turn, relay | schedule, append, replace, remove, run-recurrence, every script that arms an occurrence |
 * | results            | HASH   | job id -> "<attempt> <due ms>[ <progress>]\n<result>\n<envelope>" | turn, relay | schedule, append, replace, remove, run-recurrence, every script that arms an occurrence |
 * | ended              | ZSET   | id of a job that was discarded or cancelled -> when, epoch ms, as far as `keepEnded` says | turn, relay, cancel, clear, cancel-tagged, pause-recurrence, remove-recurrence, remove-orphan, resume-recurrence, upsert-recurrence, declare-recurrence, refill | cancel, clear, cancel-tagged, pause-recurrence, remove-recurrence, remove-orphan, schedule, append, replace, remove, run-recurrence, every script that arms an occurrence |
 * | endings            | HASH   | the same id -> "<d, discarded, or c, cancelled> <attempts> <due ms> <reason, JSON>\n<envelope without its payload>" | turn, relay, cancel, clear, cancel-tagged, pause-recurrence, remove-recurrence, remove-orphan, resume-recurrence, upsert-recurrence, declare-recurrence, refill | cancel, clear, cancel-tagged, pause-recurrence, remove-recurrence, remove-orphan, schedule, append, replace, remove, run-recurrence, every script that arms an occurrence |
 * | usedIds            | ZSET   | chosen id of an ended job -> when it may be used again, epoch ms; and a tab and an id -> until when its throttle is remembered (see scripts/schedule/when.lua), epoch ms | turn, ordinary, relay, replace | schedule, append, replace, remove, backfill-recurrence, run-recurrence, relay, turn, ordinary |
 * | stats              | HASH | counter -> number; and `schema` -> how the data of the queue lies here (see docs/upgrading.md), 1 where it is missing | ordinary, schema, open-set, close-set, schedule, append, replace, cancel, purge, remove, clear, cancel-tagged, pause-recurrence, remove-orphan, remove-recurrence, run-recurrence, every script that arms an occurrence, in-order | never |
 * | levels             | ZSET   | priority -> earliest due of the level, epoch ms                  | every script that moves a job    | the same                   |
 * | levels:<ending>    | ZSET   | the same of lanes that prefer the worker <ending>, or, '*', any, or, '!', of suspects, or, '@', of groups, with '^' behind the priority for lanes that a claim has seen due | every script that moves a job, in-order    | the same                   |
 * | heads:<priority>   | ZSET   | "<id of a lane's first job>\t<lane>" -> its due, epoch ms        | every script that moves a job    | the same                   |
 * | heads:<priority>:<ending> | ZSET | the same of lanes that prefer the worker <ending>, or, '*', any, or, '!', of suspects, or, '@', of groups, with '^' behind the priority for lanes that a claim has seen due | every script that moves a job, in-order    | the same                   |
 * | lane:<lane>        | ZSET   | job id -> due, epoch ms; a lane is "<priority>:<worker>:<versioned name>" (see codec/versioned-name.ts), of suspects with '!' for the worker, of groups with '@' and the group, of suspects of a group with '!@' and the group | every script that moves a job    | the same, in-order                   |
 * | versioned          | ZSET   | lane of a version above 1, of no group -> 0                      | every script that moves a job    | the same                   |
 * | groups             | ZSET   | "<group>\t<lane>" of each lane of a group, those of its suspects too -> 0; groups as codec/group-text.ts writes them | every script that moves jobs of groups    | the same, in-order                   |
 * | runningOfGroups    | ZSET   | "<group>\t<job id>" of each running job of a group -> 0         | every script that moves jobs of groups, in-order    | the same                   |
 * | turns:<priority>:<versioned name> | ZSET | group with due jobs of that name and version, which a claim has seen -> its turn (see scripts/turn/claim/units.lua) | turn, in-order, relay | every script that moves jobs of groups, in-order, pause-group |
 * | turning:<priority> | HASH   | `turn` -> the present turn; `common` -> the turn of jobs without a group; ":<versioned name>" -> 1 for each of which there are turns | turn, in-order, relay | every script that moves jobs of groups, in-order |
 * | left:<priority>    | ZSET   | group that has left its turns -> the turn that it had next, as far as that lies above the present | every script that moves jobs of groups, in-order, pause-group | every script that moves jobs of groups, in-order |
 * | held               | ZSET   | group of which nothing may start -> until when, epoch ms, 'inf' = until a job of it ends | every script that moves jobs of groups, in-order, pause-group | every script that moves jobs of groups, in-order |
 * | holders            | HASH   | group -> under `'fifo'` the job of it that has begun and has not ended | every script that moves jobs of groups, in-order | the same                   |
 * | groupSettings      | HASH   | group -> what is set for it (see codec/group-text.ts)            | set-group                        | set-group |
 * | groupPauses        | ZSET   | group that is paused -> until when, epoch ms                     | pause-group                      | pause-group, every script that moves jobs of groups |
 * | tag:<tag>          | ZSET   | job id -> its place among those of the tag, in the order in which they came | schedule, append, replace, replay, run-recurrence, ordinary, cancel, cancel-tagged, clear, remove, close-set, every script that arms an occurrence | turn, ordinary, in-order, relay, cancel, replace, purge, remove, clear, cancel-tagged, shift-tagged, close-set, every script that disarms one |
 * | members:<set>      | HASH   | id of a member of the set that is pending -> ''                  | schedule, append, replay, run-recurrence, backfill-recurrence, declare-recurrence, refill, resume-recurrence, tend, upsert-recurrence, every script that ends a job | in-order, purge, shift-tagged, declare-recurrence, pause-recurrence, refill, remove-orphan, remove-recurrence, resume-recurrence, upsert-recurrence, every script that ends a job |
 * | set:<id>           | HASH   | of a set that is not done: its state, numbers and completion job (see scripts/parts/follow-ups.lua) | open-set, replay, in-order, every script that ends a job | every script that ends a job |
 * | sets               | ZSET   | id of a set that is not done -> when it was opened, epoch ms | open-set | every script that ends a job |
 * | doneSets           | HASH   | id of a done set -> "<when it was opened, epoch ms> <members in all> <completed> <dead> <discarded> <cancelled>" | every script that ends a job | the same, or expires |
 * | setsToForget       | ZSET   | the same id -> until when it is remembered, epoch ms | every script that ends a job | the same, or expires |
 * | workers            | ZSET   | "<crew> <session> <pid> <traits> <host>" (see codec/worker-traits.ts) -> when it was last here, epoch ms | ordinary, turn, relay | ordinary, turn, relay, or expires, an hour |
 * | options:<digest>   | STRING | JSON of the options of the sessions that have the digest among their traits (see codec/listed-options.ts) | ordinary, turn, relay | expires, an hour |
 * | sleeping           | ZSET   | crew -> until when some of them may sleep, epoch ms | ordinary, turn, relay | turn, relay, register |
 * | handles:<crew>     | SET    | versioned name; of a crew that ends in 'v', which takes all versions, name; of the crew '*', which takes every name, only '*'      | register                         | register, or expires, a week |
 * | sleepers:<crew>    | ZSET | sleeping session -> when it looks again, epoch ms | ordinary, close-set, schedule, append, replace, cancel, cancel-tagged, clear, remove, set-group, pause-group, resume-group, reschedule, shift-tagged, replay, pause, resume, run-recurrence, set-blackouts, every script that arms an occurrence, in-order | the same, or expires, a day |
 * | full:<session>     | STRING | names that a sleeper's handlers have no capacity for, between line breaks | turn, ordinary, relay, in-order | turn, ordinary, relay, or expires, a minute, in-order |
 * | gate               | HASH   | what keeps the whole queue shut: `pausedUntil` -> until when nothing is claimed, epoch ms, or 'inf'; `blackouts` -> the windows of blackouts (see scripts/gate/blackout.lua); `blackoutRules` -> JSON of the blackouts as they were set; and when somebody has to tend what nobody can compute in Redis: `tendAt` -> the recurrences, epoch ms, while there are any; `blackoutsTendAt` -> the blackouts, epoch ms, while some come again and again | pause, set-blackouts, upsert-recurrence, resume-recurrence, tend, declare-recurrence, declare | resume, turn, relay, set-blackouts, remove-recurrence, tend, declare, remove-orphan |
 * | recurrences        | HASH   | recurrence id -> its record (see scripts/recur/record.lua)       | upsert-recurrence, declare, declare-recurrence | remove-recurrence, tend, declare, remove-orphan |
 * | timetable          | HASH   | recurrence id -> its state (see scripts/recur/record.lua)        | cancel, remove, clear, cancel-tagged, pause-recurrence, every script that arms an occurrence | remove-recurrence, tend, declare, remove-orphan |
 * | declared           | ZSET   | "<app>\t<recurrence id>\t<digest of the declaration>" -> when a live process last declared it, epoch ms; below 0 once it has been told as an orphan; and "<app>\tbeat" and "<app>\tsince" -> when a process of an app was heard last, and since when without a gap | declare, declare-recurrence, remove-orphan | declare, remove-orphan |
 * | rate               | ZSET   | how many jobs had started in all -> when that was reached, epoch ms; and, under `rate:@<group>`, the same of a group | turn, relay | turn, relay, or expires |
 * | reservations       | ZSET   | process that is kept for a suspect -> until when, unless it says so again, epoch ms | turn      | turn, or expires           |
 * | yields             | ZSET   | job id, or a tab and a process that waits for a place for its suspect -> until when a place under `globalConcurrency` is left for it, epoch ms; remembered for 5 s more | turn | turn, or expires, a minute |
 * | served             | STRING | "<last turn> <nothing is recovered before> <when that was put off> <session that last filled a limit of FEWEST_JOBS or more>", times in epoch ms; behind that, where the clock went back, how many held groups were looked at since (see scripts/turn/groups/begin.lua) | turn, ordinary, in-order, relay | never                      |
 * | fence              | STRING | highest fence given                                              | turn, ordinary, in-order | never                      |
 * | trial              | SET    | nothing: what is added is taken away in the same call            | permissions                      | permissions |
 * | events             | STREAM | "<epoch ms>-<number of its last event>" -> `head`: "<ms of the entry before> <when readers were told last, epoch ms>", and `events`: lines (see codec/event-text.ts) | add-events | add-events |
 * | queues             | ZSET   | queue -> when a process last noted that it uses it, epoch ms; one for all queues, under the hash tag `{*}` | note-queues | never |
 * | <target>           | STREAM or LIST | jobs that a relay has moved (see docs/relay.md)            | relay                             | never                      |
 * | receipt:<caller>   | STRING | "<number of the last call> <its answer>" | every numbered call              | expires                    |
 *
 * And channels: wake:<session> and wake:<process>, which tell a session when it is to look (epoch ms, with µs where that is now), or 'cancel' where one of its jobs is
 * to be cancelled; and events, with the name of that key, whose empty messages say that there are new events.
 */
const FIXED_KEYS = [
  'jobs',
  'claims',
  'queued',
  'failures',
  'active',
  'dead',
  'completed',
  'results',
  'usedIds',
  'stats',
  'levels',
  'workers',
  'sleeping',
  'served',
  'fence',
  'gate',
  'rate',
  'reservations',
  'yields',
  'recurrences',
  'timetable',
  'sets',
  'events',
  'queues',
] as const;

export type FixedKey = (typeof FIXED_KEYS)[number];

/** The keys of one queue. `base` is what every key begins with. */
export type QueueKeys = Readonly<Record<FixedKey, string>> & { readonly base: string };

/** No queue has this name. It is the hash tag of the directory of queues, which so lies in one slot of a cluster, and in that of no queue. */
export const DIRECTORY = '*';

export const queueKeys = (prefix: string, queue: string) => keysOf(`${prefix}:{${queue}}:`);

/** `base`: see `baseOf`. */
export function keysOf(base: string): QueueKeys {
  const keys = Object.fromEntries(FIXED_KEYS.map((key) => [key, base + key])) as Record<FixedKey, string>;
  return { ...keys, base };
}

/**
 * A key that never exists, beside any key of a queue. Named in every call on a cluster it keeps a script from starting while
 * the queue's slot is on the move, when some keys are here and some there and missing ones look empty.
 */
export const absentKey = (key: string) => `${baseOf(key)}none`;

/** The keys that a call declares. */
export const declaredKeys = (keys: readonly string[], clustered: boolean) =>
  clustered ? [...keys, absentKey(keys[0]!)] : keys;

/** What stands behind the base in keys of a queue that no other constant here names. */
const OTHER_KEYS = [
  'ended',
  'endings',
  'declared',
  'trial',
  'versioned',
  'doneSets',
  'setsToForget',
  'groups',
  'runningOfGroups',
  'groupSettings',
  'groupPauses',
  'held',
  'holders',
];
/** Rows of the table above that are keys without number: more stands behind a colon. */
const FAMILIES = [
  'levels',
  'heads',
  'lane',
  'tag',
  'options',
  'handles',
  'sleepers',
  'full',
  'receipt',
  'turns',
  'turning',
  'left',
  'rate',
  'set',
  'members',
];
const KEY = new RegExp(
  `^([^{]+):\\{([^{}]+)\\}:(?:${[...FIXED_KEYS, ...OTHER_KEYS].join('|')}|(?:${FAMILIES.join('|')}):.+)$`,
  's',
);

/** Whose key this is, by a row of the table above; `undefined` where it is none of them. */
export function ownerOf(key: string): { prefix: string; queue: string } | undefined {
  const [, prefix, queue] = KEY.exec(key) ?? [];
  return prefix === undefined || queue === undefined ? undefined : { prefix, queue };
}

/** What any key of a queue begins with. */
export const baseOf = (key: string) => key.slice(0, key.indexOf('}:') + 2);

/** How the index keys of lanes that prefer some worker end; those of lanes that prefer none end in ''. */
export const ANY_WORKER = ':*';
/** How the index keys of suspects' lanes end: of jobs that run alone. */
export const SUSPECTS = ':!';
/** How the index keys of groups' lanes end. */
export const GROUPED = ':@';
/** The endings that together lead to every waiting job's lane, and to each lane once. */
export const LANE_ENDINGS = ['', ANY_WORKER, SUSPECTS, GROUPED] as const;
export const levelsKey = (keys: QueueKeys, ending: string) => `${keys.levels}${ending}`;
export const optionsKey = (keys: QueueKeys, digest: string) => `${keys.base}options:${digest}`;
export const handlesKey = (keys: QueueKeys, crew: string) => `${keys.base}handles:${crew}`;
export const sleepersKey = (keys: QueueKeys, crew: string) => `${keys.base}sleepers:${crew}`;
export const tagKey = (keys: QueueKeys, tag: string) => `${keys.base}tag:${tag}`;
export const receiptKey = (keys: QueueKeys, caller: string) => `${keys.base}receipt:${caller}`;
/** The process that a session belongs to. A session that is not the one of the handlers has a '~' and a name of its own behind the process. */
export const processOf = (sessionId: string) => sessionId.split('~', 1)[0]!;
export const wakeChannel = (keys: QueueKeys, worker: string) => `${keys.base}wake:${worker}`;

/**
 * A bug, and how it is told from others.
 *
 * @typedef {object} PlantedBug
 * @property {string} name
 * @property {string} file Where it is planted, from the root of this repository.
 * @property {string} from The text that is replaced, wherever it occurs in the file: short, so that it seldom goes stale.
 * @property {string} to
 * @property {readonly string[]} rules The rules of test/chaos/rules that it breaks. A run that violates one of them has found
 *   it; violations of other rules alone have not.
 * @property {readonly {file: string, from: string, to: string}[]} [widenedBy] Changes that break no rule by themselves, and make the
 *   moment longer in which the bug shows.
 * @property {number} [seconds] How long faults happen in each run, where it shows too seldom in the usual time.
 */

/** @type {readonly PlantedBug[]} */
export const BUGS = [
  {
    // The mark of a cancellation is still obeyed. It takes a worker that is frozen while another one runs its long job.
    name: 'fence check removed',
    file: 'lib/store/redis/scripts/turn/settle/completed.lua',
    from: 'string.find(claim, prefix, 1, true) == 1',
    to: "not string.find(claim, '^%d+c ')",
    rules: ['outdated-settles-nothing', 'ends-once'],
    seconds: 20,
  },
  {
    name: 'recovery removed',
    file: 'lib/store/redis/scripts/turn/settle/grace.lua',
    from: 'now >= grace.recoverFrom',
    to: 'false',
    rules: ['everybody-lives', 'nothing-lost'],
  },
  {
    name: 'receipt ignored',
    file: 'lib/store/redis/scripts/parts/begun.lua',
    from: 'then earlierAnswer = string.sub(receipt, #last + 2) end',
    to: 'then earlierAnswer = nil end',
    rules: ['counts-add-up', 'nothing-lost', 'due-as-asked'],
  },
  {
    name: 'cancel without state check',
    file: 'lib/store/redis/scripts/change/cancel.lua',
    from: 'lane, due = findWaiting(id, envelope)',
    to: "lane, due = (findWaiting(id, envelope) or string.match(envelope, '%d+:[^\\n]*')), now",
    rules: ['true-means-waiting'],
  },
  {
    name: 'reschedule without state check',
    file: 'lib/store/redis/scripts/change/reschedule.lua',
    from: 'envelope and findWaiting(id, envelope)',
    to: "envelope and (findWaiting(id, envelope) or string.match(envelope, '%d+:[^\\n]*'))",
    rules: ['true-means-waiting'],
  },
  {
    // Behind a due job of a lane those are claimed as well that are due within a second.
    name: 'claim a second early',
    file: 'lib/store/redis/scripts/turn/claim/source.lua',
    from: 'tonumber(firsts[last]) > front.dueBy do',
    to: 'tonumber(firsts[last]) > front.dueBy + 1000 do',
    rules: ['never-early'],
  },
  {
    name: 'envelope of a waiting job deleted',
    file: 'lib/store/redis/scripts/turn/settle/write-settled.lua',
    from: "count('retried')",
    to: "count('retried')\n    redis.call('HDEL', jobsKey, s.id)",
    rules: ['one-state', 'ends-as-it-must'],
  },
  {
    name: 'settled without leaving active',
    file: 'lib/store/redis/scripts/turn/settle/write-settled.lua',
    from: "redis.call('ZREM', activeKey, unpack(endedIds))",
    to: '',
    rules: ['one-state', 'ends-once'],
  },
  {
    name: 'a result counts for another job of its call',
    file: 'lib/worker/batch/batch-outcomes.ts',
    from: 'this.one(run, results[i])',
    to: 'this.one(run, results[runs.length - 1 - i])',
    rules: ['reruns-have-reasons'],
  },
  {
    name: 'leases not renewed',
    file: 'lib/store/redis/scripts/turn/after/write-jobs.lua',
    from: "redis.call('ZADD', activeKey, 'XX', unpack(decided.renewed, i, math.min(i + RENEWED_A_CALL - 1, #decided.renewed)))",
    to: '',
    rules: ['reruns-have-reasons'],
  },
  {
    name: 'recovered job not counted as an attempt',
    file: 'lib/store/redis/scripts/turn/settle/recover.lua',
    from: 'claim.crashes = claim.crashes + 1',
    to: 'claim.crashes, claim.attempt = claim.crashes + 1, claim.attempt - 1',
    rules: ['attempts-count'],
  },
  {
    name: 'ids of ended jobs forgotten',
    file: 'lib/store/redis/scripts/turn/settle/write-settled.lua',
    from: 'local function rememberId(s)',
    to: 'local function rememberId(s)\n  if true then return end',
    rules: ['created-once', 'ends-once'],
  },
  {
    name: 'reschedule moves nothing',
    file: 'lib/store/redis/scripts/change/reschedule.lua',
    from: 'addToLane(enterLane(laneName), id, due)',
    to: 'enterLane(laneName)',
    rules: ['due-as-asked'],
  },
  {
    name: 'worker waits for ever after an outage',
    file: 'lib/store/redis/session/redis-session.ts',
    from: '!mayPass(error)) throw error;',
    to: '!mayPass(error)) throw error;\n        await new Promise(() => {});',
    rules: ['everybody-lives'],
  },
  {
    name: 'end of a run overrules its cancellation',
    file: 'lib/store/redis/scripts/turn/settle/other-settlements.lua',
    from: "if claim and hasMark(claim.marks, 'c') then",
    to: 'if false then',
    rules: ['ends-once', 'true-means-running'],
    // A holder that gets no message learns of the wish with its next renewal only. That is allowed, and many runs end before.
    widenedBy: [
      {
        file: 'lib/store/redis/scripts/change/cancel-running.lua',
        from: 'if isRunning then publish(',
        to: 'if false then publish(',
      },
    ],
  },
  {
    name: 'cancelled job runs again where its worker died',
    file: 'lib/store/redis/scripts/turn/settle/recover.lua',
    from: "hasMark(claim.marks, 'c')",
    to: 'false',
    rules: ['true-means-running', 'ends-once'],
  },
  {
    name: 'change beside a run dropped',
    file: 'lib/store/redis/scripts/turn/settle/takeover.lua',
    from: "if not hasMark(claim.marks, 'q') then return nil end",
    to: 'if hasMark then return nil end',
    rules: ['last-change-runs'],
  },
  {
    name: 'late jobs begin all the same',
    file: 'lib/store/redis/scripts/turn/claim/sift.lua',
    from: 'now - job.due > tonumber(maxLatenessMs)',
    to: 'false',
    rules: ['late-as-asked'],
  },
  {
    name: 'job dead as late too early',
    file: 'lib/store/redis/scripts/turn/claim/sift.lua',
    from: 'now - job.due > tonumber(maxLatenessMs)',
    to: 'now - job.due > tonumber(maxLatenessMs) / 100',
    rules: ['late-as-asked'],
  },
  {
    name: 'counter counts twice',
    file: 'lib/store/redis/scripts/change/cancel-waiting.lua',
    from: "'cancelled', #cancelled + #unqueued)",
    to: "'cancelled', 2 * #cancelled + #unqueued)",
    rules: ['counts-add-up'],
  },
  {
    // Ordinary turns know nothing of groups, so their limits hold in turns of the other script alone.
    name: 'ordinary turns do not ask for groups',
    file: 'lib/store/redis/scripts/turn/uses.lua',
    from: "base .. 'groups', base .. 'runningOfGroups', base .. 'held', ",
    to: '',
    rules: ['within-its-limit', 'nothing-lost', 'everybody-lives'],
    seconds: 24,
  },
  {
    name: 'one job of a group too many',
    file: 'lib/store/redis/scripts/group/state.lua',
    from: 'state.places = places - countActive(group, places)',
    to: 'state.places = places + 1 - countActive(group, places + 1)',
    rules: ['within-its-limit'],
  },
  {
    name: 'retry holds its group no longer',
    file: 'lib/store/redis/scripts/turn/groups/free.lua',
    from: 'if holds and not job.backAt then',
    to: 'if holds then',
    rules: ['first-begun-first-ended'],
  },
  {
    name: 'place of a group never given back',
    file: 'lib/store/redis/scripts/turn/groups/free.lua',
    from: 'ofGroups.running[member] = backAt or true, false',
    to: 'ofGroups.running[member] = backAt or true, nil',
    rules: ['one-state', 'nothing-left-of-groups'],
  },
  {
    name: 'occurrence left out now and then',
    file: 'lib/store/redis/scripts/recur/next.lua',
    from: '(math.floor(from / rule.everyMs) + 1)',
    to: '(math.floor(from / rule.everyMs) + (now % 8 == 0 and 2 or 1))',
    rules: ['one-job-an-instant'],
  },
  {
    // What has ended is in no index that the next arming looks at.
    name: 'last begun occurrence armed again',
    file: 'lib/store/redis/scripts/recur/resume-recurrence.lua',
    from: 'math.max(now, state.reached)',
    to: 'state.began > 0 and state.began - 1 or now',
    // The instant is armed twice, or it lies in the paused time.
    rules: ['one-job-an-instant', 'recurs-as-asked'],
  },
  {
    name: 'recurrence without an armed occurrence left alone',
    file: 'lib/store/redis/scripts/recur/tend/look.lua',
    from: 'elseif state.armed == 0 then',
    to: 'elseif false then',
    rules: ['recurs-again'],
  },
  {
    name: 'row of replacements begun anew',
    file: 'lib/store/redis/scripts/schedule/when.lua',
    from: 'isBounded, rowFrom = true, ',
    to: 'isBounded, rowFrom = true, now or ',
    rules: ['waits-no-longer'],
  },
  {
    name: 'throttle forgotten',
    file: 'lib/store/redis/scripts/schedule/replace.lua',
    from: '  writeThrottle(due)\n',
    to: '  if not writeThrottle then return nil end\n',
    rules: ['as-far-apart'],
  },
  {
    name: 'retry of the previous occurrence not waited for',
    file: 'lib/store/redis/scripts/recur/judge.lua',
    from: "redis.call('HEXISTS', jobsKey, id) == 1",
    to: "redis.call('ZSCORE', base .. 'active', id)",
    rules: ['one-after-the-other'],
  },
];

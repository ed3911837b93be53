// Made by scripts/embed-lua.mjs from constants.lua beside this file; change that and run `npm run embed`.
/** How many failed attempts are kept with a job. */
export const FAILURES_KEPT = 20;
/** A claim carries at most so many bytes of envelopes, so that neither the store nor the process stalls on it. */
export const BYTES_A_CLAIM = 8 * 1024 * 1024;
/** A slow link may take longer than a lease to carry a larger claim, so none of its jobs begins before its lease has been renewed. */
export const UNCONFIRMED_BYTES = 256 * 1024;
/** With fewer jobs a second turn under way costs more than it gains (a whole turn needs more of them); and a session that claims fewer does not count as another one that is behind. */
export const FEWEST_JOBS = 5;
/** From so many jobs on, to ask how many of them are due at one time costs less than to read their due times; and of so many, and one more, a claim reads the due times first. */
export const MANY_AT_ONCE = 16;
/** A turn that settles or claims more jobs keeps Redis from others for too long. */
export const MOST_JOBS = 500;
/** A turn that starts more jobs of groups keeps Redis from others for too long, as each may be of another group. */
export const MOST_JOBS_OF_GROUPS = 250;
/** A claim sees as many lanes of groups as it may claim jobs, but at least so many. */
export const LANES_SEEN = 20;
/** How many levels, and how many heads of one level, a turn reads at first. What one part of it has read another takes for all that it asked for. */
export const FIRST_HEADS = 8;
/** How many jobs of a lane a turn reads at first where several lanes compete; then four times as many. */
export const FIRST_READ = 4;
/** Once a session has passed over so many lanes of a source, and four times as many as its crew has names, it looks up the lane of each of its names instead. So a session that handles few names comes to its own jobs in one turn, and knows when there are none, however many lanes of others are due. Not in sources of stolen jobs: their lanes belong to preferred workers, whom it cannot know. */
export const PASSED_OVER = 168;
/** How many arguments a script hands over at once: Lua takes 8000 at most. */
export const PORTION = 4000;
/** The known instants of a recurrence run short where they end so soon. */
export const LEAST_AHEAD_MS = 10000;
/** At most one process in so many is kept for suspects at a time, but always one. */
export const PROCESSES_A_SUSPECT = 4;
/** So much later than a sleeper that is told its deputy looks, in case the sleeper is dead; and so late a session looks again that waits for something of which nobody tells it. */
export const DEPUTY_MS = 500;
/** How long a sleeper that has been told to look counts as on its way. */
export const ON_ITS_WAY_MS = 50;
/** For so long a place under `globalConcurrency` is left for a better job of a sleeper. The promise is 250 ms; the other 50 are for the round trip of the sleeper, and for the timer of the session that looks for the place again. */
export const YIELD_MS = 200;
/** A job for which nobody came is left no other place for so long, and at most so many jobs are remembered. */
export const YIELD_AGAIN_MS = 5000;
export const MOST_YIELDS = 10;
/** Nobody could renew in a silence longer than this part of a lease; recovery is then put off by a lease, but not again within so many. */
export const SILENT_LEASES = 0.5;
export const PUT_OFF_AGAIN_LEASES = 2;
/** So long the names of a crew are kept after they were noted, or a session of the crew was listed; a session that finds them gone notes them again. Longer than a day: else each run of a nightly job would begin with that. */
export const KEEP_NAMES_MS = 604800000;
/** An ordinary turn notes that the queue is served where the last note is older than a lease divided by this. */
export const STAMPS_A_LEASE = 16;
/** So many more ids than it adds a turn forgets whose time is over. */
export const FORGOTTEN_A_TURN = 100;
/** An occurrence that has not begun so long after it was due is missed, even if the next one is not due yet. */
export const MISSED_AFTER_MS = 60000;
/** A missed occurrence is made up for within this, or until the next one is due if that is later. */
export const MADE_UP_WITHIN_MS = 86400000;
/** At most so many missed occurrences are made up for, the latest. */
export const MOST_MADE_UP = 10000;
/** An occurrence that waits for the end of the previous one is looked at again after this. */
export const BLOCKED_LOOK_MS = 250;
/** For so long a recurrence that has ended is listed. */
export const ENDED_LISTED_MS = 86400000;
/** Smaller numbers are taken for seconds: as milliseconds they lie before 4 March 1973. */
export const FIRST_INSTANT_MS = 1e11;
/** No Date holds a later one. */
export const LAST_INSTANT_MS = 8.64e15;
/** So much longer than it holds back jobs a throttle is remembered: the `at` of a new job may lie in the past, be it for a clock that is late. */
export const THROTTLED_LONGER_MS = 10000;
/** How the data of a queue lies in Redis: raised where a version of this library that knows a smaller number would misread or damage it. A version that raises it notes its number before it first writes, as a queue without one counts as 1. See docs/upgrading.md. */
export const SCHEMA = 2;
/** The schema of a queue that has never had a set or a chain: what wrote it knows 1, and reads all that lies there. */
export const PLAIN_SCHEMA = 1;
/** In the place of a tag that begins with this byte stands the set of a job: '\31' and the id of the set. No user can write such a tag. */
export const SET_BYTE = 31;
/** Among so many sets that are not done the set of a job is looked for whose envelope is gone. */
export const SETS_LOOKED_AT = 1000;
/** When a pause of a group ends that has no end: no Date is as late. */
export const ENDLESS = 9007199254740991;

// A process that drains a queue in turns with others (turns.ts): schedules its jobs, says so, and runs them once it is told to.
import { loadContestant } from '../contestants/index.js';
import { payloadOf } from './payloads.js';
import { fill } from './throughput.js';
import { type TurnNews, type TurnTask, warmUpOf } from './turns.js';

const { contestant, redis, queue, jobs, options, listens } = JSON.parse(process.argv[2]!) as TurnTask;
const warm = warmUpOf(jobs);
let handled = 0;
const tell = (news: TurnNews) => process.send!(news);

const { open } = await loadContestant(contestant);
const session = await open({
  redis,
  queues: [queue],
  concurrency: 100,
  ...options,
  ...(listens && { settled() {} }),
  handle() {
    handled++;
    if (handled === warm) tell('warm');
    if (handled === jobs) tell('done');
  },
});
await fill(session, jobs, { payload: payloadOf(), queue });
process.once('message', () => void session.start());
process.once('disconnect', () => process.exit());
tell('ready');

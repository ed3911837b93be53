import type { Command } from './command.js';
import { cancel, remove, retry, runNow } from './commands/change-jobs.js';
import { purgeDead, replayDead } from './commands/dead.js';
import { doctor } from './commands/doctor.js';
import { failures } from './commands/failures.js';
import { find, list } from './commands/list.js';
import { pause, resume } from './commands/pause.js';
import { queues } from './commands/queues.js';
import { recurrences } from './commands/recurrences.js';
import { sets } from './commands/sets.js';
import { explain, show } from './commands/show.js';
import { stats } from './commands/stats.js';
import { tail } from './commands/tail.js';
import { workers } from './commands/workers.js';

/** By name, in the order of help. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>(
  Object.entries({
    queues,
    stats,
    list,
    find,
    show,
    explain,
    failures,
    workers,
    recurrences,
    sets,
    cancel,
    remove,
    'run-now': runNow,
    retry,
    'replay-dead': replayDead,
    'purge-dead': purgeDead,
    pause,
    resume,
    tail,
    doctor,
  }),
);

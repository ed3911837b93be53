import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals';
import { ManualClock } from '../support/manual-clock.js';
import { affinity } from './affinity.js';
import { blackouts } from './blackouts.js';
import { cancel } from './cancel.js';
import { chains } from './chains.js';
import { claim } from './claim.js';
import { deadLetters } from './dead-letters.js';
import { declarations } from './declarations.js';
import { declarationsGaps } from './declarations-gaps.js';
import { declarationsOver } from './declarations-over.js';
import { ended } from './ended.js';
import { events } from './events.js';
import { explain } from './explain.js';
import { find } from './find.js';
import { gates } from './gates.js';
import { groups } from './groups.js';
import { groupsCorners } from './groups-corners.js';
import { groupsFifo } from './groups-fifo.js';
import { groupsHeld } from './groups-held.js';
import { groupsRecurrences } from './groups-recurrences.js';
import { ids } from './ids.js';
import { late } from './late.js';
import { limits } from './limits.js';
import { load } from './load.js';
import { maxWait } from './max-wait.js';
import { order } from './order.js';
import { progress } from './progress.js';
import { pull } from './pull.js';
import { queued } from './queued.js';
import { reachable } from './reachable.js';
import { recover } from './recover.js';
import { recurrencesArming } from './recurrences-arming.js';
import { recurrencesBackfill } from './recurrences-backfill.js';
import { recurrencesControl } from './recurrences-control.js';
import { recurrencesJitter } from './recurrences-jitter.js';
import { recurrencesLimits } from './recurrences-limits.js';
import { recurrencesMissed } from './recurrences-missed.js';
import { recurrencesOverlap } from './recurrences-overlap.js';
import { renew } from './renew.js';
import { replace } from './replace.js';
import { retention } from './retention.js';
import { schedule } from './schedule.js';
import { sets } from './sets.js';
import { settle } from './settle.js';
import { severalQueues } from './several-queues.js';
import { sleep } from './sleep.js';
import { suspects } from './suspects.js';
import { tags } from './tags.js';
import { throttle } from './throttle.js';
import { versions } from './versions.js';
import { views } from './views.js';
import type { World } from './world.js';
import { yields } from './yields.js';

const CASES = {
  schedule,
  ids,
  replace,
  'maxWaitMs of replace': maxWait,
  'throttleMs of replace': throttle,
  queued,
  sets,
  chains,
  cancel,
  claim,
  order,
  affinity,
  settle,
  renew,
  progress,
  recover,
  suspects,
  gates,
  blackouts,
  yields,
  limits,
  groups,
  'groups that are held': groupsHeld,
  'groups, first in, first out': groupsFifo,
  'groups in corners': groupsCorners,
  late,
  tags,
  retention,
  ended,
  deadLetters,
  views,
  versions,
  load,
  explain,
  severalQueues,
  find,
  pull,
  sleep,
  reachable,
  recurrencesArming,
  recurrencesJitter,
  recurrencesLimits,
  recurrencesControl,
  recurrencesBackfill,
  recurrencesMissed,
  recurrencesOverlap,
  'recurrences in groups': groupsRecurrences,
  declarations,
  events,
  'declarations that are over': declarationsOver,
  'declarations after a gap': declarationsGaps,
};

/** Runs all cases in one world, and audits the store after each. `where`: what that world's store is over. */
export function holdToContract(where: string, start: (clock: ManualClock) => Promise<World>): void {
  describe(`the store in ${where}`, () => {
    let world: World;

    beforeAll(async () => {
      world = await start(new ManualClock());
    });

    afterEach(async () => {
      expect(await world.audit()).toEqual([]);
      await world.close();
    });

    afterAll(() => world.stop());

    for (const [name, cases] of Object.entries(CASES)) {
      describe(name, () => cases(() => world));
    }
  });
}

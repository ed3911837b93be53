import { createdOnce, nothingUnknown, refusedIsNowhere, trueMeansRunning, trueMeansWaiting } from './rules/calls.js';
import { attemptsCount, fencesGrow, outdatedSettlesNothing, rerunsHaveReasons } from './rules/claims.js';
import { countsAddUp, endsAsItMust, endsOnce, lastChangeRuns, nothingLost, oneState } from './rules/ends.js';
import { firstBegunFirstEnded, keepsItsGroup, nothingLeftOfGroups, withinItsLimit } from './rules/groups.js';
import { everybodyLives, leavesInTime, nothingUntoward } from './rules/processes.js';
import { oneAfterTheOther, oneJobAnInstant, recursAgain, recursAsAsked } from './rules/recurrences.js';
import type { Rule, Violation } from './rules/rule.js';
import { asFarApart, waitsNoLonger } from './rules/spacing.js';
import { dueAsAsked, lateAsAsked, neverEarly } from './rules/timing.js';
import type { Timeline } from './timeline.js';

const RULES: readonly Rule[] = [
  oneState,
  countsAddUp,
  nothingLost,
  lastChangeRuns,
  waitsNoLonger,
  asFarApart,
  endsOnce,
  endsAsItMust,
  createdOnce,
  refusedIsNowhere,
  nothingUnknown,
  neverEarly,
  lateAsAsked,
  dueAsAsked,
  trueMeansWaiting,
  trueMeansRunning,
  fencesGrow,
  outdatedSettlesNothing,
  attemptsCount,
  rerunsHaveReasons,
  keepsItsGroup,
  withinItsLimit,
  firstBegunFirstEnded,
  nothingLeftOfGroups,
  oneJobAnInstant,
  recursAsAsked,
  oneAfterTheOther,
  recursAgain,
  everybodyLives,
  leavesInTime,
  nothingUntoward,
];

/** All that is wrong in a history; nothing where every promise was kept. */
export function check(timeline: Timeline): Violation[] {
  return RULES.flatMap((rule) => rule(timeline));
}

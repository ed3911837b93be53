import type { Bar } from '../benchmark.js';
import { TITLES } from '../contestants/contestant.js';
import type { Figures } from './results.js';
import { median } from './statistics.js';

export interface Verdict {
  /** What the bar is about, in words. */
  says: string;
  /**
   * The median. Where the bar is a ratio to another contestant: of the medians; to another figure of this library: the median
   * of the rounds' ratios, as the two cases of a round have met the same minute of the machine.
   * Left out where something was not measured.
   */
  value?: number;
  met?: boolean;
  aimMet?: boolean;
}

/** Whether a run reaches the bar. */
export function judge(bar: Bar, figures: Figures): Verdict {
  const says = wordsOf(bar);
  const value = measuredOf(bar, figures);
  if (value === undefined) return { says };
  const reaches = (least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY) =>
    value >= least && value <= most;
  const verdict: Verdict = { says, value, met: reaches(bar.atLeast, bar.atMost) };
  if (bar.aim !== undefined)
    verdict.aimMet = bar.atLeast === undefined ? reaches(undefined, bar.aim) : reaches(bar.aim);
  return verdict;
}

function measuredOf({ figure, over }: Bar, figures: Figures): number | undefined {
  const mine = figures[figure]?.ours;
  if (!over) return mine?.median;
  const other = 'figure' in over ? figures[over.figure]?.ours : figures[figure]?.[over.contestant];
  if (!mine || !other) return undefined;
  if ('contestant' in over || mine.rounds.length !== other.rounds.length) return mine.median / other.median;
  return median(mine.rounds.map((value, round) => value / other.rounds[round]!));
}

function wordsOf({ figure, over, atLeast, atMost, aim }: Bar): string {
  const limit = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  const aimed = aim === undefined ? '' : ` (aim ${aim})`;
  if (!over) return `${figure} ${limit}${aimed}`;
  return `${figure} ${limit}${aimed} × ${'figure' in over ? over.figure : TITLES[over.contestant]}`;
}

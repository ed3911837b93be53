import type { Bar } from '../benchmark.js';
import { TITLES } from '../contestants/contestant.js';
import type { Figures } from './results.js';

export interface Verdict {
  /** What the bar is about, in words. */
  says: string;
  /** Medians, divided where the bar is a ratio; left out where something was not measured. */
  value?: number;
  met?: boolean;
  aimMet?: boolean;
}

/** Whether the medians of a run reach the bar. */
export function judge(bar: Bar, figures: Figures): Verdict {
  const says = wordsOf(bar);
  const mine = figures[bar.figure]?.ours?.median;
  const other = otherOf(bar, figures);
  if (mine === undefined || other === undefined) return { says };
  const value = mine / other;
  const reaches = (least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY) =>
    value >= least && value <= most;
  const verdict: Verdict = { says, value, met: reaches(bar.atLeast, bar.atMost) };
  if (bar.aim !== undefined)
    verdict.aimMet = bar.atLeast === undefined ? reaches(undefined, bar.aim) : reaches(bar.aim);
  return verdict;
}

function otherOf({ figure, over }: Bar, figures: Figures): number | undefined {
  if (!over) return 1;
  return 'figure' in over ? figures[over.figure]?.ours?.median : figures[figure]?.[over.contestant]?.median;
}

function wordsOf({ figure, over, atLeast, atMost, aim }: Bar): string {
  const limit = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`;
  const aimed = aim === undefined ? '' : ` (aim ${aim})`;
  if (!over) return `${figure} ${limit}${aimed}`;
  return `${figure} ${limit}${aimed} × ${'figure' in over ? over.figure : TITLES[over.contestant]}`;
}

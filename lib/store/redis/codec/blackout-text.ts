import type { BlackoutRule } from '../../../core/blackouts/blackout.js';
import type { KnownWindows } from '../../../core/blackouts/windows.js';

/** What the scripts say for a time that has no end, or whose end nobody has computed. */
const ENDLESS = 'inf';

/** A list of blackouts as it is stored; '' for an empty one. */
export function formatRules(rules: readonly BlackoutRule[]): string {
  return rules.length === 0 ? '' : JSON.stringify(rules);
}

/** Throws where somebody has damaged what is stored. */
export function parseRules(text: string, queue: string): readonly BlackoutRule[] {
  if (text === '') return [];
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(
      `The list of blackouts of queue '${queue}' is damaged: got '${text.slice(0, 50)}', expected JSON. Set it anew with inspector.setBlackouts.`,
      { cause },
    );
  }
}

/** Windows as `gate` holds them. Behind those that are known the queue is shut, until somebody has computed more. */
export function formatWindows({ windows, knownUntilMs }: KnownWindows): string {
  const texts = windows.map(({ fromMs, toMs }) => `${fromMs}-${toMs}`);
  if (Number.isFinite(knownUntilMs)) texts.push(`${knownUntilMs}-${ENDLESS}`);
  return texts.join(' ');
}

/** Until when a blackout lasts that is on; `undefined` where none is. */
export function parseEnd(text: string): number | undefined {
  if (text === '') return undefined;
  return text === ENDLESS ? Number.POSITIVE_INFINITY : Number(text);
}

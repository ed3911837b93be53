import type { GroupSettings } from '../../../core/options/group-options.js';
import type { QueueSettings } from '../../../core/options/queue-options.js';
import { rateWindowMs } from '../../../core/options/rate-limit.js';

/**
 * A group as it stands in the names of lanes, where a ':' would end it, and in all keys. Such texts sort as the groups do, since ';1' and ';2' sort
 * where ':' and ';' do.
 */
export const encodeGroup = (group: string) => group.replaceAll(';', ';2').replaceAll(':', ';1');

export const decodeGroup = (text: string) => text.replaceAll(';1', ':').replaceAll(';2', ';');

/** The limits of a queue's groups, as the scripts take them: "<concurrency> <rate's max> <rate's window in ms> <'fifo' or 'due'>", 0 for none. */
export function encodeGroupsRule({ groups: { concurrency, rateLimit, order } }: QueueSettings): string {
  const rate = rateLimit ? `${rateLimit.max} ${rateWindowMs(rateLimit)}` : '0 0';
  return `${Number.isFinite(concurrency) ? concurrency : 0} ${rate} ${order}`;
}

/** How settings that are left out, and limits that are lifted, are written. */
const LEFT_OUT = '-';
const UNLIMITED = '0';

/**
 * Settings of one group: "<weight> <concurrency> <rate's max> <rate's window in ms> <rate's perMs>"; '-' is left out, 0 unlimited. '' where
 * nothing is set.
 */
export function encodeGroupSettings({ weight, concurrency, rateLimit }: GroupSettings): string {
  if (weight === undefined && concurrency === undefined && rateLimit === undefined) return '';
  const places = concurrency === 'unlimited' ? UNLIMITED : (concurrency ?? LEFT_OUT);
  if (rateLimit === undefined || rateLimit === 'unlimited') {
    const rate = rateLimit === undefined ? LEFT_OUT : UNLIMITED;
    return `${weight ?? LEFT_OUT} ${places} ${rate} ${rate} ${rate}`;
  }
  return `${weight ?? LEFT_OUT} ${places} ${rateLimit.max} ${rateWindowMs(rateLimit)} ${rateLimit.perMs}`;
}

export function decodeGroupSettings(text: string): GroupSettings {
  if (text === '') return {};
  const [weight, places, max, , perMs] = text.split(' ') as [string, string, string, string, string];
  return {
    ...(weight !== LEFT_OUT && { weight: Number(weight) }),
    ...(places !== LEFT_OUT && { concurrency: places === UNLIMITED ? ('unlimited' as const) : Number(places) }),
    ...(max !== LEFT_OUT && {
      rateLimit: max === UNLIMITED ? ('unlimited' as const) : { max: Number(max), perMs: Number(perMs) },
    }),
  };
}
